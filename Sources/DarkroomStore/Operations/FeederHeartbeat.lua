#!lua flags=allow-oom
-- Notes that the feeder of a batch runs, also while it feeds nothing: its list is slow, or Redis has no memory left.
-- KEYS[1] the prefix of every key, `{<namespace>}:`
-- ARGV[1] batch id
-- {'OK'} noted
-- {'GONE'} there is no such batch
--#include prelude.lua
local key = KEY_BATCH .. ARGV[1]
if redis.call('HEXISTS', key, 'state') == 0 then return {'GONE'} end
--#include now.lua
redis.call('HSET', key, 'feeder.seen', now)
return {'OK'}
