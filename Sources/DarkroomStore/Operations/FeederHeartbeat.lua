#!lua flags=allow-oom
-- Says that the feeder of a batch lives, also while it feeds nothing: its list comes slowly, or Redis has no memory left.
-- KEYS[1] the prefix of every key, `{<namespace>}:`
-- ARGV[1] batch id
-- {'OK'}  {'GONE'}
--#include prelude.lua
local key = KEY_BATCH .. ARGV[1]
if redis.call('HEXISTS', key, 'state') == 0 then return {'GONE'} end
--#include now.lua
redis.call('HSET', key, 'feeder.seen', now)
return {'OK'}
