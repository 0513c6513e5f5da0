#!lua flags=allow-oom
-- Removes a worker from the list of workers. The worker must have released all its operations.
-- ROLES worker
-- KEYS[1] the prefix of every key, `{<namespace>}:`
-- ARGV[1] worker id
-- {'OK'}
--#include prelude.lua
local worker = ARGV[1]
redis.call('ZREM', KEY_WORKERS, worker)
redis.call('UNLINK', KEY_WORKER .. worker, KEY_WORKER .. worker .. REFUSED)
return {'OK'}
