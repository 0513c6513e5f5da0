-- Included. Finishes the batch `id` with the hash `key`, `retain` ms before it is forgotten (below 0: never), at `now`.
redis.call('HSET', key, 'state', 'finished', 'finished', now)
if retain >= 0 then redis.call('ZADD', prefix .. 'expiring', now + retain, id) end
