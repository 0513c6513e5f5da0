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
-- {'FAILED'} the batch requires the success of the other batch, which finished without success: this call cancelled the batch
--#include prelude.lua
--#include cancel_batch.lua
--#include publish_event.lua
--#include server_time.lua
local id, other, version = unpack(ARGV)
local key, other_key = KEY_BATCH .. id, KEY_BATCH .. other
if id == other then return {'ITSELF'} end
local state, cancelled, after_success, round = unpack(redis.call('HMGET', key, 'state', 'flag.cancelled', 'after.success', 'round'))
if not state then return {'GONE', id} end
local other_state, other_cancelled, other_failed = unpack(redis.call('HMGET', other_key, OUTCOME_FIELDS))
if not other_state then return {'GONE', other} end
if cancelled == '1' then return {'CANCELLED'} end
if state == 'executing' or state == 'finished' or round ~= '1' then return {'STARTED'} end
if redis.call('SISMEMBER', key .. DEPENDENCIES, other) == 1 then return {'OK', 0} end
local now = server_time()
if other_state == 'finished' then
    if after_success ~= '1' or other_cancelled ~= '1' and other_failed == '0' then return {'OVER'} end
    cancel_batch(id, other .. ' did not succeed', now)
    return {'FAILED'}
end
if (redis.call('HGET', KEY_CONTROL, 'dependencies') or '0') ~= version then return {'MOVED'} end
redis.call('HINCRBY', KEY_CONTROL, 'dependencies', 1)
redis.call('SADD', key .. DEPENDENCIES, other)
redis.call('SADD', other_key .. DEPENDENTS, id)
if state == 'ready' then
    redis.call('HSET', key, 'state', 'waiting')
    redis.call('ZREM', KEY_READY .. (redis.call('HGET', key, 'priority') or 'normal'), id)
    publish_event('isReady', id, now, '"value":false')
end
publish_event('dependencies', id, now, '"value":' .. redis.call('SCARD', key .. DEPENDENCIES))
return {'OK', 1}
