--#include publish_event.lua

-- Begins a new round of the finished batch `id`. The batch gets its name back unless another batch has taken the name.
local function reopen_batch(id, now)
    local key = KEY_BATCH .. id
    local round, spent, started, finished, name, submitted = unpack(
        redis.call('HMGET', key, 'round', 'spent', 'started', 'finished', 'name', 'submitted'))
    local took = tonumber(started) and tonumber(finished) and math.max(0, finished - started) or 0
    redis.call('HSET', key, 'state', 'ready', 'round', round + 1, 'spent', (spent or 0) + took, 'started', '', 'finished', '')
    redis.call('ZREM', KEY_EXPIRING, id)
    redis.pcall('ZADD', KEY_OPEN, tonumber(submitted) or 0, id)
    if name and name ~= '' and redis.call('HEXISTS', KEY_NAMES, name) == 0 then redis.call('HSET', KEY_NAMES, name, id) end
    publish_event('isFinished', id, now, '"value":false')
    publish_event('isReady', id, now, '"value":true')
end
