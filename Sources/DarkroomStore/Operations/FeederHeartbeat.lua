#!lua flags=allow-oom
-- Says that the feeder of a batch lives, also while it feeds nothing: its list comes slowly, or Redis has no memory left.
-- KEYS[1] the prefix of every key, `{<namespace>}:`
-- ARGV[1] batch id
-- {'OK'}  {'GONE'}
local key = KEYS[1] .. 'batch:' .. ARGV[1]
if redis.call('HEXISTS', key, 'state') == 0 then return {'GONE'} end
local clock = redis.call('TIME')
redis.call('HSET', key, 'feeder.seen', clock[1] * 1000 + math.floor(clock[2] / 1000))
return {'OK'}
