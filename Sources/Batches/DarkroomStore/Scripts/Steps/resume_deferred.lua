-- Included by maintenance.lua. Lets deferred operations be claimed that are due, up to 50 of each of up to 10 batches. An operation that
-- is due later than is possible was deferred before the retention clock was set back, and is due now. Removes members that are
-- no operation numbers. Sets `more` to 1 if there may be further operations that are due. Expects `prefix`, `now`,
-- `retention_clock` and `fields`.
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
                if string.find(operation, '^[1-9]%d*$') and tonumber(operation) <= MOST_PHOTOS then
                    claimable[#claimable + 1] = operation
                    claimable[#claimable + 1] = operation
                else
                    redis.call('ZREM', key .. QUEUE, operation)
                end
            end
            if #claimable > 0 then
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
