-- Included. Says when the finished batch `id` with the hash `key` is forgotten: `retain` ms after it finished, but not
-- before 30 s after it, so that those who wait for the batch see its end, and not within a day while a webhook of it stands.
-- Expects `prefix`.
do
    local f = redis.call('HMGET', key, 'retain', 'finished', 'round', 'webhook', 'aged')
    local retain, round, stays = tonumber(f[1]) or -1, math.min(tonumber(f[3]) or 1, 1000000), 30000
    if retain >= 0 then
        if f[4] and f[4] ~= '' then
            for r = math.max(1, round - 99), round do
                if redis.call('ZSCORE', prefix .. 'webhooks', id .. ' ' .. r) then stays = 86400000 end
            end
        end
        stays = math.max(retain, stays)
        redis.call('ZADD', prefix .. 'expiring', (tonumber(f[2]) or 0) + stays, id)
        redis.call('HSET', key, 'expires', (tonumber(f[5]) or 0) + stays)
    end
end
