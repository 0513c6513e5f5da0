-- Included. Finishes the batch `id` with the hash `key` at `now`: clears its focus, and schedules its webhook, its deletion and
-- the release of its dependents. If the batch is cancelled, it also removes the queue and the entries. A batch whose counters do not
-- agree is not finished, but repaired first; Repair.lua sets `ARGV.repaired`. Expects `prefix`.
do
    local f = redis.call('HMGET', key, 'webhook', 'round', 'flag.cancelled', 'photos', 'count.filtered', 'count.failed', 'count.cancelled', 'pace', 'worked')
    local cancelled = f[3] == '1'
    local round = string.format('%.0f', math.min(math.max(1, tonumber(f[2]) or 1), 1000000))
    local photos, filtered, failed = tonumber(f[4]) or 0, tonumber(f[5]) or 0, tonumber(f[6]) or 0
    local is_sound = cancelled or ARGV.repaired or filtered + failed + (tonumber(f[7]) or 0) == photos
    if not is_sound then
        redis.call('SADD', KEY_REPAIR_WANTED, id)
    else
        redis.call('HSET', key, 'state', 'finished', 'finished', now, 'retention.start', redis.call('HGET', KEY_CONTROL, 'retention.clock') or 0)
        -- The period of work since the last sample, see sample_pace.lua.
        local passed = now - (tonumber(string.match(f[8] or '', '^(%d+) ')) or now)
        if passed > 0 and passed <= 10000 then redis.call('HSET', key, 'worked', string.format('%.0f', (tonumber(f[9]) or 0) + passed)) end
        redis.pcall('ZREM', KEY_OPEN, id)
        redis.call('HDEL', key, FOCUS_FIELDS, 'pace')
        if cancelled then redis.call('UNLINK', key .. QUEUE, key .. OPERATIONS, key .. LEASE_EXPIRIES, key .. RETRIES) end
        if redis.call('EXISTS', key .. DEPENDENTS) == 1 then
            redis.call('ZADD', KEY_RELEASES, now, id)
            -- The next claim of any worker releases the dependents; this notice makes workers claim now.
            redis.call('PUBLISH', CHANNEL_CONTROL, '{"change":"work","workers":'
                .. RUNNING_WORKERS .. ',"priority":"veryHigh","operations":1}')
        end
        if f[1] and f[1] ~= '' then
            redis.call('HSET', key, 'webhook.attempts', 0)
            redis.call('ZADD', KEY_WEBHOOKS, now, id .. ' ' .. round)
        end
--#include schedule_deletion.lua
        local about = TIME_AND_BATCH .. ','
        redis.call('PUBLISH', CHANNEL_EVENTS, '{"event":"isFinished",' .. about .. '"value":true}')
        redis.call('PUBLISH', CHANNEL_EVENTS, '{"event":"completion",' .. about .. '"round":' .. round .. ',"cancelled":' .. tostring(cancelled)
            .. ',"photos":' .. photos .. ',"filtered":' .. filtered .. ',"failed":' .. failed .. ',"cancelledPhotos":'
            .. (cancelled and photos - filtered - failed or tonumber(f[7]) or 0) .. '}')
    end
end
