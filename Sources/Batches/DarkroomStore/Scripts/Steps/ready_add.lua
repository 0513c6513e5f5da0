-- Included. Adds the batch `id` with the hash `key` to the ready queue of `priority`. A batch that is already in the queue
-- keeps its turn. If the batch was not in the queue, publishes a change notice (see notify_work.lua), unless `ARGV.no_notice` is
-- set because a worker that refuses the batch is releasing an operation. Expects `prefix` and `now`.
if not redis.call('ZSCORE', KEY_READY .. priority, id) then
    redis.call('ZADD', KEY_READY .. priority, redis.call('HINCRBY', KEY_CONTROL, 'turn', 1), id)
    redis.call('HINCRBY', KEY_CONTROL, 'entered', 1)
    if not ARGV.no_notice then
        local operations = redis.call('ZCOUNT', key .. QUEUE, CLAIMABLE)
--#include notify_work.lua
    end
end
