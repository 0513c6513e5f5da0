--#include batch_fields.lua
-- Lets deferred operations be claimed that are due, up to 50 of each of up to 10 batches. An operation that is due later than is possible
-- was deferred before the retention clock was set back, and is due now. Returns true if there may be further operations that are due.
local function resume_deferred(now, retention_clock)
    local more = false

    -- Lets up to 50 operations of the batch be claimed whose scores in its queue are from `from` to `to`. Removes members that are no
    -- operation numbers.
    local function resume_operations(id, from, to)
        --#include ready_sync.lua
        local queue = KEY_BATCH .. id .. QUEUE
        local operations, claimable = redis.call('ZRANGEBYSCORE', queue, from, to, 'LIMIT', 0, 50), {}
        for _, operation in ipairs(operations) do
            if string.find(operation, '^[1-9]%d*$') and tonumber(operation) <= MOST_PHOTOS then
                claimable[#claimable + 1] = operation
                claimable[#claimable + 1] = operation
            else
                redis.call('ZREM', queue, operation)
            end
        end
        if #claimable > 0 then
            redis.call('ZADD', queue, unpack(claimable))
            ready_sync(id, now)
        end
        if #operations == 50 then more = true end
    end

    -- Does this for the batches in `due`. Batches without further deferred operations leave `deferred`.
    local function resume_batches(due, from, to)
        if #due == 10 then more = true end
        for _, id in ipairs(due) do
            local key, next_due = KEY_BATCH .. id, nil
            local state, cancelled = batch_fields(key, 'state', 'flag.cancelled')
            if state and cancelled ~= '1' then
                resume_operations(id, from, to)
                next_due = redis.call('ZRANGEBYSCORE', key .. QUEUE, DEFERRED, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)[2]
            end
            if next_due then
                redis.call('ZADD', KEY_DEFERRED, next_due - DEFERRED, id)
            else
                redis.call('ZREM', KEY_DEFERRED, id)
            end
        end
    end

    local latest = retention_clock + MOST_DEFERRAL
    resume_batches(redis.call('ZRANGEBYSCORE', KEY_DEFERRED, '-inf', retention_clock, 'LIMIT', 0, 10), DEFERRED, DEFERRED + retention_clock)
    resume_batches(redis.call('ZRANGEBYSCORE', KEY_DEFERRED, '(' .. latest, '+inf', 'LIMIT', 0, 10), '(' .. DEFERRED + latest, '+inf')
    return more
end
