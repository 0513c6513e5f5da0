-- Included. Puts the batch `id` into the ring of `priority`, where it keeps the turn that it may already have, and
-- publishes "work available" when it was not there, unless that was said of the priority within 100 ms.
-- Expects `prefix` and `now`.
if redis.call('ZADD', prefix .. 'ready:' .. priority, 'NX', redis.call('HINCRBY', prefix .. 'control', 'turn', 1), id) == 1 then
    local since = now - tonumber(redis.call('HGET', prefix .. 'control', 'hinted.' .. priority) or 0)
    if since >= 100 or since < 0 then
        redis.call('HSET', prefix .. 'control', 'hinted.' .. priority, now)
        redis.call('PUBLISH', prefix .. 'control', '{"change":"work","workers":' .. redis.call('ZCARD', prefix .. 'workers')
            .. ',"priority":"' .. priority .. '"}')
    end
end
