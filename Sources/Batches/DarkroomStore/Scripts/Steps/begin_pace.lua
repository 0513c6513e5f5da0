-- Begins to record the recent progress of the batch with the hash `key`, which starts to execute (see sample_pace.lua).
local function begin_pace(key, now)
    local filtered, failed = unpack(redis.call('HMGET', key, 'count.filtered', 'count.failed'))
    redis.call('HSET', key, 'pace', string.format('%.0f %.0f', now, (tonumber(filtered) or 0) + (tonumber(failed) or 0)))
end
