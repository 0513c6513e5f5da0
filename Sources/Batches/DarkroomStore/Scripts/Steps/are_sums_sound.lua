--#include next_due.lua

-- Whether the counters of the batch `id` agree with each other and with the sizes of its keys, and whether the batch is in the sets in
-- which a batch of its state must be. The cost does not depend on the size of the batch: state codes are not read. The keys of the batch
-- must have the right types.
local function are_sums_sound(id)
    local key = KEY_BATCH .. id
    local counts = redis.call('HMGET', key, 'photos', 'operations', 'operations.ended', 'executing', 'operations.kept', COUNT_FIELDS)
    for i = 1, #counts do
        local number = tonumber(counts[i] or '')
        if not (number and number >= 0 and number % 1 == 0) then return false end
        counts[i] = number
    end
    local photos, operations, ended, executing, kept, downloaded, filtered, failed, cancelled_photos = unpack(counts)
    local state, sealed, cancelled, priority, suspended, downloads_suspended, focus_only, retain = unpack(
        redis.call('HMGET', key, 'state', 'sealed', 'flag.cancelled', 'priority', 'flag.suspended', 'flag.downloads.suspended', 'focus.only',
            'retain'))
    local queued, held = redis.call('ZCARD', key .. QUEUE), redis.call('HLEN', key .. EXECUTING)
    local claimable = redis.call('ZCOUNT', key .. QUEUE, CLAIMABLE)
    local final, failed_by_reason, finished = filtered + failed + cancelled_photos, 0, state == 'finished'
    local reasons = redis.call('HLEN', key .. REASONS) <= 1000 and redis.call('HGETALL', key .. REASONS) or {}
    for i = 2, #reasons, 2 do failed_by_reason = failed_by_reason + (tonumber(reasons[i]) or -1) end
    local turn = redis.call('ZSCORE', KEY_READY .. (priority or 'normal'), id)
    local is_sound = executing == held and failed_by_reason == failed
        and finished == (type(redis.pcall('ZSCORE', KEY_OPEN, id)) ~= 'string')
    if cancelled == '1' then
        is_sound = is_sound and finished == (held == 0) and not turn and queued == (finished and 0 or operations - ended - executing)
    else
        local can_run = (state == 'ready' or state == 'executing') and suspended ~= '1' and downloads_suspended ~= '1' and claimable > 0
        is_sound = is_sound and operations - ended - executing == queued
            and redis.call('HLEN', key .. OPERATIONS) == queued + held + kept
            and downloaded + final <= photos
            and finished == (sealed == '1' and ended == operations and state ~= 'waiting')
            and (not finished or final == photos)
            and (state == 'waiting') == (redis.call('EXISTS', key .. DEPENDENCIES) == 1)
            and (focus_only == '1' or can_run == (turn and true or false))
    end
    if is_sound and cancelled ~= '1' and queued > claimable then
        local due, known = next_due(key), redis.call('ZSCORE', KEY_DEFERRED, id)
        is_sound = due and known and tonumber(known) <= due
    end
    if finished then
        is_sound = is_sound and (redis.call('EXISTS', key .. DEPENDENTS) == 0 or redis.call('ZSCORE', KEY_RELEASES, id) and true)
            and ((tonumber(retain) or -1) < 0 or redis.call('ZSCORE', KEY_EXPIRING, id) and true)
    end
    return is_sound
end
