-- Included. Marks the batch `id` with the hash `key`, which has no dependencies left, as ready. If all its operations have ended,
-- finishes it instead. Expects `prefix` and `now`.
redis.call('HSET', key, 'state', 'ready')
redis.call('PUBLISH', CHANNEL_EVENTS, '{"event":"isReady",' .. TIME_AND_BATCH .. ',"value":true}')
do
    local r = redis.call('HMGET', key, 'sealed', 'operations', 'operations.ended')
    if r[1] == '1' and r[2] == r[3] then
--#include finish_batch.lua
    else
--#include ready_sync.lua
    end
end
