-- Sets the time at which the finished batch `id` is forgotten: `retain` ms after it finished. The batch is kept for at least 30 s, so that
-- waiting clients see that it has finished, and for at least a day while one of the batch's webhooks has not been delivered.
local function schedule_deletion(id)
    local key = KEY_BATCH .. id
    local retain, finished, round, webhook, retention_start = unpack(
        redis.call('HMGET', key, 'retain', 'finished', 'round', 'webhook', 'retention.start'))
    retain = tonumber(retain) or -1
    if retain < 0 then return end
    local last_round, retained = math.min(tonumber(round) or 1, 1000000), 30000
    if webhook and webhook ~= '' then
        for r = math.max(1, last_round - 99), last_round do
            if redis.call('ZSCORE', KEY_WEBHOOKS, id .. ' ' .. r) then retained = 86400000 end
        end
    end
    retained = math.max(retain, retained)
    redis.call('ZADD', KEY_EXPIRING, (tonumber(finished) or 0) + retained, id)
    redis.call('HSET', key, 'expires', (tonumber(retention_start) or 0) + retained)
end
