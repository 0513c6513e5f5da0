-- Included. Sets when the finished batch `id` with the hash `key` is forgotten: `retain` ms after it finished, but at least
-- 30 s after it, so that clients that wait for the batch see its end, and at least a day while one of its webhooks is not
-- delivered.
-- Expects `prefix`.
do
    local f = redis.call('HMGET', key, 'retain', 'finished', 'round', 'webhook', 'aged')
    local retain, round, stays = tonumber(f[1]) or -1, math.min(tonumber(f[3]) or 1, 1000000), 30000
    if retain >= 0 then
        if f[4] and f[4] ~= '' then
            for r = math.max(1, round - 99), round do
                if redis.call('ZSCORE', KEY_WEBHOOKS, id .. ' ' .. r) then stays = 86400000 end
            end
        end
        stays = math.max(retain, stays)
        redis.call('ZADD', KEY_EXPIRING, (tonumber(f[2]) or 0) + stays, id)
        redis.call('HSET', key, 'expires', (tonumber(f[5]) or 0) + stays)
    end
end
