-- Included. Finishes the batch `id` with the hash `key` at `now`: nothing is in focus any more, what waits for it is to be
-- released, its webhook to be called, and it will be forgotten. Of a cancelled batch nothing is left to hand out.
-- Expects `prefix`.
do
    local f = redis.call('HMGET', key, 'webhook', 'round', 'flag.cancelled', 'photos', 'count.filtered', 'count.failed', 'count.cancelled')
    local cancelled = f[3] == '1'
    local round = string.format('%.0f', math.min(math.max(1, tonumber(f[2]) or 1), 1000000))
    local photos, filtered, failed = tonumber(f[4]) or 0, tonumber(f[5]) or 0, tonumber(f[6]) or 0
    redis.call('HSET', key, 'state', 'finished', 'finished', now, 'aged', redis.call('HGET', prefix .. 'control', 'aged') or 0)
    redis.call('HDEL', key, 'focus.first', 'focus.last', 'focus.only')
    if cancelled then redis.call('UNLINK', key .. ':queue', key .. ':operations', key .. ':deaths') end
    if redis.call('EXISTS', key .. ':dependents') == 1 then
        redis.call('ZADD', prefix .. 'releases', now, id)
        -- The next claim of anybody releases them; this makes workers claim now.
        redis.call('PUBLISH', prefix .. 'control', '{"change":"work","workers":'
            .. redis.call('ZCOUNT', prefix .. 'workers', now - 10000, '+inf') .. ',"priority":"veryHigh","operations":1}')
    end
    if f[1] and f[1] ~= '' then
        redis.call('HSET', key, 'webhook.attempts', 0)
        redis.call('ZADD', prefix .. 'webhooks', now, id .. ' ' .. round)
    end
--#include schedule_deletion.lua
    local about = '"time":' .. now .. ',"batch":"' .. id .. '",'
    redis.call('PUBLISH', prefix .. 'events', '{"event":"isFinished",' .. about .. '"value":true}')
    redis.call('PUBLISH', prefix .. 'events', '{"event":"completion",' .. about .. '"round":' .. round .. ',"cancelled":' .. tostring(cancelled)
        .. ',"photos":' .. photos .. ',"filtered":' .. filtered .. ',"failed":' .. failed .. ',"cancelledPhotos":'
        .. (cancelled and photos - filtered - failed or tonumber(f[7]) or 0) .. '}')
end
