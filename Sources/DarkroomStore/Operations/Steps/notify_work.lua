-- Included. Publishes the hint that `operations` of `priority` can be claimed, unless a hint for more than half as many was
-- published within 100 ms. `workers` is the number of workers heard of within 10 s; each draws whether it claims, see
-- Hint.swift. Expects `prefix`, `now`, `priority` and `operations`.
do
    local said = redis.call('HMGET', KEY_CONTROL, 'hinted.' .. priority, 'offered.' .. priority)
    local since = now - (tonumber(said[1]) or 0)  -- another program may have written anything
    if not (since >= 0 and since < 100) or operations >= 2 * (tonumber(said[2]) or 0) then
        redis.call('HSET', KEY_CONTROL, 'hinted.' .. priority, now, 'offered.' .. priority, operations)
        redis.call('PUBLISH', CHANNEL_CONTROL, '{"change":"work","workers":' .. LIVING_WORKERS
            .. ',"priority":"' .. priority .. '","operations":' .. operations .. '}')
    end
end
