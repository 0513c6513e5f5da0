-- Included. Cancels the batch `id` with the hash `key` for `reason` ('': a user cancelled it). The batch must be neither
-- cancelled nor finished. The cost does not depend on the size of the batch: workers end the operations that are executing, and
-- state codes are not rewritten. Expects `prefix` and `now`.
redis.call('HSET', key, 'flag.cancelled', 1)
do
    local c = redis.call('HMGET', key, 'photos', 'count.filtered', 'count.failed', 'count.cancelled')
    for i = 1, 4 do c[i] = tonumber(c[i] or '') or 0 end
    local totals = {'photos.cancelled', math.min(c[1] - c[2] - c[3] - c[4], MOST_PHOTOS)}
--#include add_totals.lua
end
if reason ~= '' then redis.call('HSET', key, 'cancelled.reason', reason) end
redis.call('ZREM', KEY_READY .. (redis.call('HGET', key, 'priority') or 'normal'), id)
redis.call('ZREM', KEY_DEFERRED, id)
redis.call('PUBLISH', CHANNEL_EVENTS, '{"event":"isCancelled",' .. TIME_AND_BATCH .. ',"value":true}')
--#include publish_batch_controls.lua
if redis.call('HGET', key, 'executing') == '0' then
--#include finish_batch.lua
end
