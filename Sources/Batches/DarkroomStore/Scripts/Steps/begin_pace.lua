-- Included. Begins the recent progress of the batch with the hash `key`, which starts to execute (see sample_pace.lua). Expects
-- `now`.
do
    local done = redis.call('HMGET', key, 'count.filtered', 'count.failed')
    redis.call('HSET', key, 'pace', string.format('%.0f %.0f', now, (tonumber(done[1]) or 0) + (tonumber(done[2]) or 0)))
end
