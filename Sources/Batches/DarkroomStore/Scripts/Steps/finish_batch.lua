--#include publish_event.lua
--#include running_workers.lua
--#include schedule_deletion.lua

-- Finishes the batch `id` at `now`: clears its focus, and schedules its webhook, its deletion and the release of its dependents. If the
-- batch is cancelled, also removes the queue and the entries. If the counters of the batch do not agree and the caller is not Repair.lua
-- (`is_repaired`), the step only requests a repair, which finishes the batch later.
local function finish_batch(id, now, is_repaired)
    local key = KEY_BATCH .. id
    local webhook, round, cancelled, photos, filtered, failed, cancelled_photos, pace, worked = unpack(
        redis.call('HMGET', key, 'webhook', 'round', 'flag.cancelled', 'photos', 'count.filtered', 'count.failed', 'count.cancelled', 'pace',
            'worked'))
    cancelled = cancelled == '1'
    round = string.format('%.0f', math.min(math.max(1, tonumber(round) or 1), 1000000))
    photos, filtered, failed, cancelled_photos =
        tonumber(photos) or 0, tonumber(filtered) or 0, tonumber(failed) or 0, tonumber(cancelled_photos) or 0
    local is_sound = cancelled or is_repaired or filtered + failed + cancelled_photos == photos
    if not is_sound then
        redis.call('SADD', KEY_REPAIR_WANTED, id)
        return
    end
    redis.call('HSET', key, 'state', 'finished', 'finished', now, 'retention.start', redis.call('HGET', KEY_CONTROL, 'retention.clock') or 0)
    -- The period of work since the last sample, see sample_pace.lua.
    local passed = now - (tonumber(string.match(pace or '', '^(%d+) ')) or now)
    if passed > 0 and passed <= 10000 then redis.call('HSET', key, 'worked', string.format('%.0f', (tonumber(worked) or 0) + passed)) end
    redis.pcall('ZREM', KEY_OPEN, id)
    redis.call('HDEL', key, FOCUS_FIELDS, 'pace')
    if cancelled then redis.call('UNLINK', key .. QUEUE, key .. OPERATIONS, key .. LEASE_EXPIRIES, key .. RETRIES) end
    if redis.call('EXISTS', key .. DEPENDENTS) == 1 then
        redis.call('ZADD', KEY_RELEASES, now, id)
        -- The next claim of any worker releases the dependents; this notice makes workers claim now.
        redis.call('PUBLISH', CHANNEL_CONTROL, '{"change":"work","workers":' .. running_workers(now)
            .. ',"priority":"veryHigh","operations":1}')
    end
    if webhook and webhook ~= '' then
        redis.call('HSET', key, 'webhook.attempts', 0)
        redis.call('ZADD', KEY_WEBHOOKS, now, id .. ' ' .. round)
    end
    schedule_deletion(id)
    publish_event('isFinished', id, now, '"value":true')
    publish_event('completion', id, now, '"round":' .. round .. ',"cancelled":' .. tostring(cancelled) .. ',"photos":' .. photos
        .. ',"filtered":' .. filtered .. ',"failed":' .. failed .. ',"cancelledPhotos":'
        .. (cancelled and photos - filtered - failed or cancelled_photos))
end
