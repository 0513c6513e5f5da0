-- Included. Sets `is_sound`, a variable of the script: true if the counters of the batch `id` with the hash `key` agree with each
-- other and with the sizes of its keys, and if the batch is in the sets in which a batch of its state must be. The cost does not depend on
-- the size of the batch: state codes are not read. The keys of the batch must have the right types. Expects `prefix`.
do
    local c = redis.call('HMGET', key, 'photos', 'operations', 'operations.ended', 'executing', 'operations.kept', 'count.downloaded',
        'count.filtered', 'count.failed', 'count.cancelled', 'state', 'sealed', 'flag.cancelled', 'priority', 'flag.suspended',
        'flag.downloads.suspended', 'focus.only', 'retain')
    is_sound = true
    for i = 1, 9 do
        c[i] = tonumber(c[i] or '')
        is_sound = is_sound and c[i] ~= nil and c[i] >= 0 and c[i] % 1 == 0
    end
    if is_sound then
        local queued, held = redis.call('ZCARD', key .. QUEUE), redis.call('HLEN', key .. EXECUTING)
        local claimable = redis.call('ZCOUNT', key .. QUEUE, CLAIMABLE)
        local final, failed, finished = c[7] + c[8] + c[9], 0, c[10] == 'finished'
        local reasons = redis.call('HLEN', key .. REASONS) <= 1000 and redis.call('HGETALL', key .. REASONS) or {}
        for i = 2, #reasons, 2 do failed = failed + (tonumber(reasons[i]) or -1) end
        local turn = redis.call('ZSCORE', KEY_READY .. (c[13] or 'normal'), id)
        is_sound = c[4] == held and failed == c[8] and finished == (type(redis.pcall('ZSCORE', KEY_OPEN, id)) ~= 'string')
        if c[12] == '1' then
            is_sound = is_sound and finished == (held == 0) and not turn and queued == (finished and 0 or c[2] - c[3] - c[4])
        else
            local can_run = (c[10] == 'ready' or c[10] == 'executing') and c[14] ~= '1' and c[15] ~= '1' and claimable > 0
            is_sound = is_sound and c[2] - c[3] - c[4] == queued and redis.call('HLEN', key .. OPERATIONS) == queued + held + c[5]
                and c[6] + final <= c[1]
                and finished == (c[11] == '1' and c[3] == c[2] and c[10] ~= 'waiting')
                and (not finished or final == c[1])
                and (c[10] == 'waiting') == (redis.call('EXISTS', key .. DEPENDENCIES) == 1)
                and (c[16] == '1' or can_run == (turn and true or false))
        end
        if is_sound and c[12] ~= '1' and queued > claimable then
            local due = redis.call('ZRANGEBYSCORE', key .. QUEUE, DEFERRED, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)[2]
            local known = redis.call('ZSCORE', KEY_DEFERRED, id)
            is_sound = due and known and tonumber(known) <= due - DEFERRED
        end
        if finished then
            is_sound = is_sound and (redis.call('EXISTS', key .. DEPENDENTS) == 0 or redis.call('ZSCORE', KEY_RELEASES, id) and true)
                and ((tonumber(c[17]) or -1) < 0 or redis.call('ZSCORE', KEY_EXPIRING, id) and true)
        end
    end
end
