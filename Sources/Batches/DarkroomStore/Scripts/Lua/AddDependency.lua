#!lua
-- Makes a batch wait for another batch. The caller reads the dependencies, checks that the new dependency creates no cycle, and
-- passes the version of the dependencies that it has read.
-- ROLES coordinator
-- KEYS[1] the prefix of every key, `{<namespace>}:`
-- ARGV[1] batch id  [2] id of the other batch  [3] field `dependencies` of `control`, as it was before the caller
--     read the dependencies
-- {'OK', new}: `new` is 1 if this call added the dependency
-- {'MOVED'} dependencies have changed since [3]: the caller must read them again
-- {'GONE', batch id} there is no such batch
-- {'STARTED'} the batch has started, so it can no longer wait
-- {'CANCELLED'} the batch is cancelled
-- {'ITSELF'} both are the same batch
-- {'OVER'} the other batch has finished: no dependency is needed
-- {'FAILED'} the other batch has finished without success, which the batch requires: this call cancelled the batch
--#include prelude.lua
local id, other = ARGV[1], ARGV[2]
local key, other_key = KEY_BATCH .. id, KEY_BATCH .. other
if id == other then return {'ITSELF'} end
local b = redis.call('HMGET', key, 'state', 'flag.cancelled', 'after.success', 'round')
if not b[1] then return {'GONE', id} end
local o = redis.call('HMGET', other_key, OUTCOME_FIELDS)
if not o[1] then return {'GONE', other} end
if b[2] == '1' then return {'CANCELLED'} end
if b[1] == 'executing' or b[1] == 'finished' or b[4] ~= '1' then return {'STARTED'} end
if redis.call('SISMEMBER', key .. DEPENDENCIES, other) == 1 then return {'OK', 0} end
--#include now.lua
if o[1] == 'finished' then
    if b[3] ~= '1' or o[2] ~= '1' and o[3] == '0' then return {'OVER'} end
    local reason = other .. ' did not succeed'
--#include cancel_batch.lua
    return {'FAILED'}
end
if (redis.call('HGET', KEY_CONTROL, 'dependencies') or '0') ~= ARGV[3] then return {'MOVED'} end
redis.call('HINCRBY', KEY_CONTROL, 'dependencies', 1)
redis.call('SADD', key .. DEPENDENCIES, other)
redis.call('SADD', other_key .. DEPENDENTS, id)
if b[1] == 'ready' then
    redis.call('HSET', key, 'state', 'waiting')
    redis.call('ZREM', KEY_READY .. (redis.call('HGET', key, 'priority') or 'normal'), id)
    redis.call('PUBLISH', CHANNEL_EVENTS, '{"event":"isReady",' .. TIME_AND_BATCH .. ',"value":false}')
end
redis.call('PUBLISH', CHANNEL_EVENTS, '{"event":"dependencies",' .. TIME_AND_BATCH .. ',"value":'
    .. redis.call('SCARD', key .. DEPENDENCIES) .. '}')
return {'OK', 1}
