-- Included. Begins a new round of the finished batch `id` with the hash `key`. The batch gets its name back unless another batch
-- has taken the name. Expects `prefix` and `now`.
do
    local r = redis.call('HMGET', key, 'round', 'spent', 'started', 'finished', 'name', 'submitted')
    local took = tonumber(r[3]) and tonumber(r[4]) and math.max(0, r[4] - r[3]) or 0
    redis.call('HSET', key, 'state', 'ready', 'round', r[1] + 1, 'spent', (r[2] or 0) + took, 'started', '', 'finished', '')
    redis.call('ZREM', KEY_EXPIRING, id)
    redis.pcall('ZADD', KEY_OPEN, tonumber(r[6]) or 0, id)
    if r[5] and r[5] ~= '' and redis.call('HEXISTS', KEY_NAMES, r[5]) == 0 then redis.call('HSET', KEY_NAMES, r[5], id) end
    local about = TIME_AND_BATCH .. ','
    redis.call('PUBLISH', CHANNEL_EVENTS, '{"event":"isFinished",' .. about .. '"value":false}')
    redis.call('PUBLISH', CHANNEL_EVENTS, '{"event":"isReady",' .. about .. '"value":true}')
end
