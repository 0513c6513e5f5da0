-- Included by maintenance.lua. Lets up to 50 deferred operations of each of up to 10 batches be claimed if they are due. Those that are
-- due later than is possible are from before the retention clock was set back, and are due now. Sets `more` to 1 if there may
-- be further ones. Expects `prefix`, `now`, `retention_clock` and `fields`.
for _, range in ipairs({{'-inf', retention_clock}, {'(' .. retention_clock + MOST_DEFERRAL, '+inf'}}) do
    local due = redis.call('ZRANGEBYSCORE', KEY_DEFERRED, range[1], range[2], 'LIMIT', 0, 10)
    if #due == 10 then more = 1 end
    for _, id in ipairs(due) do
        local key, next_due = KEY_BATCH .. id, nil
        local b = fields(key, 'state', 'flag.cancelled')
        if b[1] and b[2] ~= '1' then
            local from = range[1] == '-inf' and DEFERRED or '(' .. DEFERRED + retention_clock + MOST_DEFERRAL
            local to = range[1] == '-inf' and DEFERRED + retention_clock or '+inf'
            local operations, claimable = redis.call('ZRANGEBYSCORE', key .. QUEUE, from, to, 'LIMIT', 0, 50), {}
            for _, operation in ipairs(operations) do
                claimable[#claimable + 1] = tonumber(operation) or 0  -- a member that is no number is not claimed, see Claim.lua
                claimable[#claimable + 1] = operation
            end
            if #operations > 0 then
                redis.call('ZADD', key .. QUEUE, unpack(claimable))
--#include ready_sync.lua
            end
            if #operations == 50 then more = 1 end
            next_due = redis.call('ZRANGEBYSCORE', key .. QUEUE, DEFERRED, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)[2]
        end
        if next_due then
            redis.call('ZADD', KEY_DEFERRED, next_due - DEFERRED, id)
        else
            redis.call('ZREM', KEY_DEFERRED, id)
        end
    end
end
