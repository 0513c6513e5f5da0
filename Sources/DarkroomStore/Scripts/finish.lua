-- Included. Finishes the batch `id` with the hash `key` at `now`: nothing is in focus any more, what waits for it is to be
-- released, its webhook to be called, and it will be forgotten. Of a cancelled batch nothing is left to hand out.
-- Expects `prefix`.
do
    local f = redis.call('HMGET', key, 'retain', 'webhook', 'round', 'flag.cancelled', 'photos', 'count.filtered', 'count.failed', 'count.cancelled')
    local cancelled = f[4] == '1'
    redis.call('HSET', key, 'state', 'finished', 'finished', now)
    redis.call('HDEL', key, 'focus.first', 'focus.last', 'focus.only')
    if cancelled then redis.call('UNLINK', key .. ':queue', key .. ':operations', key .. ':deaths') end
    if tonumber(f[1]) >= 0 then redis.call('ZADD', prefix .. 'expiring', now + f[1], id) end
    if redis.call('EXISTS', key .. ':dependents') == 1 then
        redis.call('ZADD', prefix .. 'releases', now, id)
        -- The next claim of anybody releases them; this makes workers claim now.
        redis.call('PUBLISH', prefix .. 'control', '{"change":"work","workers":'
            .. redis.call('ZCOUNT', prefix .. 'workers', now - 10000, '+inf') .. ',"priority":"veryHigh","operations":1}')
    end
    if f[2] and f[2] ~= '' then
        redis.call('HSET', key, 'webhook.attempts', 0)
        redis.call('ZADD', prefix .. 'webhooks', now, id .. ' ' .. f[3])
    end
    local about = '"time":' .. now .. ',"batch":"' .. id .. '",'
    redis.call('PUBLISH', prefix .. 'events', '{"event":"isFinished",' .. about .. '"value":true}')
    redis.call('PUBLISH', prefix .. 'events', '{"event":"completion",' .. about .. '"round":' .. f[3] .. ',"cancelled":' .. tostring(cancelled)
        .. ',"photos":' .. f[5] .. ',"filtered":' .. f[6] .. ',"failed":' .. f[7] .. ',"cancelledPhotos":'
        .. (cancelled and f[5] - f[6] - f[7] or f[8]) .. '}')
end
