--#include batch_fields.lua
--#include next_due.lua
--#include ready_sync.lua

-- Makes deferred operations of the batches in `due` claimable: up to 50 of each batch, with scores from `from` to `to` in the queue. Stores
-- in `deferred` the time at which the next operation of each batch is due, and removes batches without further deferred operations. Returns
-- true if there may be more operations to resume.
local function resume_deferred(due, from, to, now)
    local more = #due == 10

    -- Makes the operations of one batch claimable. Removes members that are not operation numbers.
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
