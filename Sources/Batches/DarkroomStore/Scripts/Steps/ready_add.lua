--#include notify_work.lua

-- Adds the batch `id` to the ready queue of `priority`. A batch that is already in the queue keeps its turn. If the batch was not in the
-- queue, publishes a change notice (see notify_work.lua), unless `is_silent`, which is true if a worker that refuses the
-- batch has released the operation.
local function ready_add(id, priority, now, is_silent)
    if redis.call('ZSCORE', KEY_READY .. priority, id) then return end
    redis.call('ZADD', KEY_READY .. priority, redis.call('HINCRBY', KEY_CONTROL, 'turn', 1), id)
    redis.call('HINCRBY', KEY_CONTROL, 'entered', 1)
    if not is_silent then notify_work(now, priority, redis.call('ZCOUNT', KEY_BATCH .. id .. QUEUE, CLAIMABLE)) end
end
