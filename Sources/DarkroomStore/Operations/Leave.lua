#!lua flags=allow-oom
-- A worker that has handed back everything takes itself off the list of workers.
-- KEYS[1] the prefix of every key, `{<namespace>}:`
-- ARGV[1] worker id
-- {'OK'}
--#include prelude.lua
redis.call('ZREM', KEY_WORKERS, ARGV[1])
redis.call('UNLINK', KEY_WORKER .. ARGV[1], KEY_WORKER .. ARGV[1] .. REFUSED)
return {'OK'}
