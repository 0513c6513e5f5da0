--#include batch_fields.lua

-- Lets the deferred operations of the batches in `due` be claimed whose scores in the queues are from `from` to `to`, up to 50 of each
-- batch. Stores in `deferred` when the next operation of each batch is due, and removes batches without further deferred operations.
-- Returns true if there may be more.
local function resume_batches(due, from, to, now)
    if #due == 0 then return false end
    --#include next_due.lua
    --#include ready_sync.lua
    local more = #due == 10

    -- Does this for one batch. Removes members that are not operation numbers.
    local function resume_operations(id)
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

    for _, id in ipairs(due) do
        local key, next_time = KEY_BATCH .. id, nil
        local state, cancelled = batch_fields(key, 'state', 'flag.cancelled')
        if state and cancelled ~= '1' then
            resume_operations(id)
            next_time = next_due(key)
        end
        if next_time then
            redis.call('ZADD', KEY_DEFERRED, next_time, id)
        else
            redis.call('ZREM', KEY_DEFERRED, id)
        end
    end
    return more
end

-- Lets deferred operations be claimed that are due, up to 50 of each of up to 10 batches. An operation that is due later than is possible
-- was deferred before the retention clock was set back, and is due now. Returns true if there may be further operations that are due.
local function resume_deferred(now, retention_clock)
    local due = redis.call('ZRANGEBYSCORE', KEY_DEFERRED, '-inf', retention_clock, 'LIMIT', 0, 10)
    local more = resume_batches(due, DEFERRED, DEFERRED + retention_clock, now)
    local latest = retention_clock + MOST_DEFERRAL
    local too_late = redis.call('ZRANGEBYSCORE', KEY_DEFERRED, '(' .. latest, '+inf', 'LIMIT', 0, 10)
    return resume_batches(too_late, '(' .. DEFERRED + latest, '+inf', now) or more
end
