#!lua flags=allow-oom
-- Makes a batch stop waiting for another batch.
-- ROLES coordinator
-- KEYS[1] the prefix of every key, `{<namespace>}:`
-- ARGV[1] batch id  [2] id of the other batch
-- {'OK', new}: `new` is 1 if this call removed the dependency
-- {'GONE', batch id} there is no such batch
--#include prelude.lua
--#include mark_ready.lua
--#include publish_event.lua
--#include server_time.lua
local id, other = ARGV[1], ARGV[2]
local key = KEY_BATCH .. id
local state = redis.call('HGET', key, 'state')
if not state then return {'GONE', id} end
if redis.call('SREM', key .. DEPENDENCIES, other) == 0 then return {'OK', 0} end
redis.call('SREM', KEY_BATCH .. other .. DEPENDENTS, id)
redis.call('HINCRBY', KEY_CONTROL, 'dependencies', 1)
local now = server_time()
local left = redis.call('SCARD', key .. DEPENDENCIES)
publish_event('dependencies', id, now, '"value":' .. left)
if state == 'waiting' and left == 0 then mark_ready(id, now) end
return {'OK', 1}
