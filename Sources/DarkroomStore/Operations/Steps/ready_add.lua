-- Included. Puts the batch `id` with the hash `key` into the ring of `priority`, where it keeps the turn that it may already
-- have, and publishes "work available" when it was not there (see notify_work.lua), unless ARGV.quiet is set: a worker that refuses
-- the batch hands an operation back. Expects `prefix` and `now`.
if redis.call('ZADD', KEY_READY .. priority, 'NX', redis.call('HINCRBY', KEY_CONTROL, 'turn', 1), id) == 1
    and not ARGV.quiet then
    local operations = redis.call('ZCARD', key .. QUEUE)
--#include notify_work.lua
end
