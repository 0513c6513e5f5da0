#!lua flags=allow-oom
-- Makes a batch no longer wait for another.
-- KEYS[1] the prefix of every key, `{<namespace>}:`
-- ARGV[1] batch id  [2] the batch that it waits for
-- {'OK', 1 when it waited for it}  {'GONE', batch id}
local prefix, id, other = KEYS[1], ARGV[1], ARGV[2]
local key = prefix .. 'batch:' .. id
local state = redis.call('HGET', key, 'state')
if not state then return {'GONE', id} end
if redis.call('SREM', key .. ':dependencies', other) == 0 then return {'OK', 0} end
redis.call('SREM', prefix .. 'batch:' .. other .. ':dependents', id)
redis.call('HINCRBY', prefix .. 'control', 'dependencies', 1)
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local left = redis.call('SCARD', key .. ':dependencies')
redis.call('PUBLISH', prefix .. 'events', '{"event":"dependencies","time":' .. now .. ',"batch":"' .. id .. '","value":' .. left .. '}')
if state == 'waiting' and left == 0 then
--#include mark_ready.lua
end
return {'OK', 1}
