#!lua flags=allow-oom
-- Changes the priority of a batch. Later claims use the new priority.
-- ROLES coordinator
-- KEYS[1] the prefix of every key, `{<namespace>}:`
-- ARGV[1] batch id  [2] priority
-- {'OK', new}: `new` is 1 if the batch had another priority
-- {'GONE'} there is no such batch
-- {'FINISHED'} the batch has finished
-- {'CANCELLED'} the batch is cancelled
--#include prelude.lua
--#include publish_batch_controls.lua
--#include publish_event.lua
--#include ready_sync.lua
--#include reset_notify_throttle.lua
--#include server_time.lua
local id, wanted = ARGV[1], ARGV[2]
local key = KEY_BATCH .. id
local state, cancelled, priority = unpack(redis.call('HMGET', key, 'state', 'flag.cancelled', 'priority'))
if not state then return {'GONE'} end
if cancelled == '1' then return {'CANCELLED'} end
if state == 'finished' then return {'FINISHED'} end
if priority == wanted then return {'OK', 0} end
local now = server_time()
redis.call('ZREM', KEY_READY .. (priority or 'normal'), id)
redis.call('HSET', key, 'priority', wanted)
publish_event('priority', id, now, '"value":"' .. wanted .. '"')
publish_batch_controls(id)
reset_notify_throttle(key)
ready_sync(id, now)
return {'OK', 1}
