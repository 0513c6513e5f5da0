#!lua flags=allow-oom
-- Records that the feeder of a batch is running, even while it feeds nothing because its list is slow or Redis is out of memory.
-- ROLES coordinator
-- KEYS[1] the prefix of every key, `{<namespace>}:`
-- ARGV[1] batch id
-- {'OK'} recorded
-- {'GONE'} there is no such batch
--#include prelude.lua
--#include server_time.lua
local key = KEY_BATCH .. ARGV[1]
if redis.call('HEXISTS', key, 'state') == 0 then return {'GONE'} end
redis.call('HSET', key, 'feeder.seen', server_time())
return {'OK'}
