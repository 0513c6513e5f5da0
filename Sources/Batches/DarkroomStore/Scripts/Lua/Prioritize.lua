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
local id, wanted = ARGV[1], ARGV[2]
local key = KEY_BATCH .. id
local b = redis.call('HMGET', key, 'state', 'flag.cancelled', 'priority')
if not b[1] then return {'GONE'} end
if b[2] == '1' then return {'CANCELLED'} end
if b[1] == 'finished' then return {'FINISHED'} end
if b[3] == wanted then return {'OK', 0} end
--#include now.lua
redis.call('ZREM', KEY_READY .. (b[3] or 'normal'), id)
redis.call('HSET', key, 'priority', wanted)
redis.call('PUBLISH', CHANNEL_EVENTS, '{"event":"priority",' .. TIME_AND_BATCH .. ',"value":"' .. wanted .. '"}')
--#include publish_batch_controls.lua
--#include reset_notify_throttle.lua
--#include ready_sync.lua
return {'OK', 1}
