#!lua flags=allow-oom
-- Suspends or resumes a batch or the cluster, as a whole or in part.
-- ROLES coordinator
-- KEYS[1] the prefix of every key, `{<namespace>}:`
-- ARGV[1] batch id, '' for the cluster  [2] `suspended`, `downloads.suspended` or `filtrations.suspended`  [3] '1' or '0'
-- {'OK', new}: `new` is 1 if the flag had another value
-- {'GONE'} there is no such batch
-- {'FINISHED'} the batch has finished
-- {'CANCELLED'} the batch is cancelled
--#include prelude.lua
--#include publish_batch_controls.lua
--#include publish_cluster_controls.lua
--#include ready_sync.lua
--#include reset_notify_throttle.lua
--#include server_time.lua
local id, flag, on = ARGV[1], ARGV[2], ARGV[3]
local key, field = KEY_CONTROL, flag
if id ~= '' then
    key, field = KEY_BATCH .. id, 'flag.' .. flag
    local state, cancelled = unpack(redis.call('HMGET', key, 'state', 'flag.cancelled'))
    if not state then return {'GONE'} end
    if cancelled == '1' then return {'CANCELLED'} end
    if state == 'finished' then return {'FINISHED'} end
end
if (redis.call('HGET', key, field) or '0') == on then return {'OK', 0} end
if on == '1' then redis.call('HSET', key, field, 1) else redis.call('HDEL', key, field) end
local now = server_time()
local part = flag == 'suspended' and 'everything' or string.match(flag, '^%a+')
local about = id ~= '' and '"batch":"' .. id .. '",' or ''
redis.call('PUBLISH', CHANNEL_EVENTS, '{"event":"isSuspended","time":' .. now .. ',' .. about .. '"value":' .. tostring(on == '1') .. ',"part":"' .. part .. '"}')
if id == '' then
    publish_cluster_controls()
else
    publish_batch_controls(id)
    reset_notify_throttle(key)
    ready_sync(id, now)
end
return {'OK', 1}
