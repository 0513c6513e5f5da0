-- Included. The batch `id` with the hash `key` has no dependencies left: marks it ready, or finishes it if all its operations
-- have ended. Expects `prefix` and `now`.
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
