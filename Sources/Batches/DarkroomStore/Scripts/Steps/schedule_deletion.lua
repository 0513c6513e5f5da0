-- Included. Sets when the finished batch `id` with the hash `key` is forgotten: `retain` ms after the batch
-- finished. The batch is kept for at least 30 s, so that waiting clients see that it has finished, and for at least a day while
-- one of the batch's webhooks has not been delivered. Expects `prefix`.
do
    local f = redis.call('HMGET', key, 'retain', 'finished', 'round', 'webhook', 'retention.start')
    local retain, round, retained = tonumber(f[1]) or -1, math.min(tonumber(f[3]) or 1, 1000000), 30000
    if retain >= 0 then
        if f[4] and f[4] ~= '' then
            for r = math.max(1, round - 99), round do
                if redis.call('ZSCORE', KEY_WEBHOOKS, id .. ' ' .. r) then retained = 86400000 end
            end
        end
        retained = math.max(retain, retained)
        redis.call('ZADD', KEY_EXPIRING, (tonumber(f[2]) or 0) + retained, id)
        redis.call('HSET', key, 'expires', (tonumber(f[5]) or 0) + retained)
    end
end
