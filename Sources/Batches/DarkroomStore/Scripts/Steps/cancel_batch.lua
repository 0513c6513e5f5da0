--#include add_totals.lua
--#include finish_batch.lua
--#include publish_batch_controls.lua
--#include publish_event.lua

-- Cancels the batch `id` for `reason` ('': a user cancelled it). The batch must be neither cancelled nor finished. The cost does not
-- depend on the size of the batch: workers end the operations that are executing, and state codes are not rewritten.
local function cancel_batch(id, reason, now)
    local key = KEY_BATCH .. id
    redis.call('HSET', key, 'flag.cancelled', 1)
    local photos, filtered, failed, cancelled = unpack(redis.call('HMGET', key, 'photos', 'count.filtered', 'count.failed', 'count.cancelled'))
    local open = (tonumber(photos) or 0) - (tonumber(filtered) or 0) - (tonumber(failed) or 0) - (tonumber(cancelled) or 0)
    add_totals({'photos.cancelled', math.min(open, MOST_PHOTOS)})
    if reason ~= '' then redis.call('HSET', key, 'cancelled.reason', reason) end
    redis.call('ZREM', KEY_READY .. (redis.call('HGET', key, 'priority') or 'normal'), id)
    redis.call('ZREM', KEY_DEFERRED, id)
    publish_event('isCancelled', id, now, '"value":true')
    publish_batch_controls(id)
    if redis.call('HGET', key, 'executing') == '0' then finish_batch(id, now) end
end
