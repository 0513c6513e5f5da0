#!lua flags=allow-oom
-- A worker that has handed back everything takes itself off the list of workers.
-- KEYS[1] the prefix of every key, `{<namespace>}:`
-- ARGV[1] worker id
-- {'OK'}
redis.call('ZREM', KEYS[1] .. 'workers', ARGV[1])
redis.call('UNLINK', KEYS[1] .. 'worker:' .. ARGV[1], KEYS[1] .. 'worker:' .. ARGV[1] .. ':refused')
return {'OK'}
