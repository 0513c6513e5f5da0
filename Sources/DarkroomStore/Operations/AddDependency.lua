#!lua
-- Makes a batch wait for another. Circles are looked for by the caller, who says which version of all dependencies it saw.
-- KEYS[1] the prefix of every key, `{<namespace>}:`
-- ARGV[1] batch id  [2] the batch that it is to wait for  [3] `dependencies` of `control` as the caller saw it
-- {'OK', 1 when it did not wait for it before}  {'MOVED'} dependencies have changed since: look again
-- {'GONE', batch id} there is no such batch  {'STARTED'} it is too late  {'CANCELLED'} it was cancelled  {'ITSELF'}
-- {'OVER'} the other is finished: nothing to wait for
-- {'FAILED'} the other is finished without success, and the batch waits for success only: it was cancelled
local prefix, id, other = KEYS[1], ARGV[1], ARGV[2]
local key, other_key = prefix .. 'batch:' .. id, prefix .. 'batch:' .. other
if id == other then return {'ITSELF'} end
local b = redis.call('HMGET', key, 'state', 'flag.cancelled', 'after.success', 'round')
if not b[1] then return {'GONE', id} end
local o = redis.call('HMGET', other_key, 'state', 'flag.cancelled', 'count.failed')
if not o[1] then return {'GONE', other} end
if b[2] == '1' then return {'CANCELLED'} end
if b[1] == 'executing' or b[1] == 'finished' or b[4] ~= '1' then return {'STARTED'} end
if redis.call('SISMEMBER', key .. ':dependencies', other) == 1 then return {'OK', 0} end
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
if o[1] == 'finished' then
    if b[3] ~= '1' or o[2] ~= '1' and o[3] == '0' then return {'OVER'} end
    local reason = other .. ' did not succeed'
--#include cancel_batch.lua
    return {'FAILED'}
end
if (redis.call('HGET', prefix .. 'control', 'dependencies') or '0') ~= ARGV[3] then return {'MOVED'} end
redis.call('HINCRBY', prefix .. 'control', 'dependencies', 1)
redis.call('SADD', key .. ':dependencies', other)
redis.call('SADD', other_key .. ':dependents', id)
if b[1] == 'ready' then
    redis.call('HSET', key, 'state', 'waiting')
    redis.call('ZREM', prefix .. 'ready:' .. redis.call('HGET', key, 'priority'), id)
    redis.call('PUBLISH', prefix .. 'events', '{"event":"isReady","time":' .. now .. ',"batch":"' .. id .. '","value":false}')
end
redis.call('PUBLISH', prefix .. 'events', '{"event":"dependencies","time":' .. now .. ',"batch":"' .. id .. '","value":'
    .. redis.call('SCARD', key .. ':dependencies') .. '}')
return {'OK', 1}
