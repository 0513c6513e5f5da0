#!lua flags=allow-oom
-- Cancels a batch: no more of its operations are claimed, and its photos that are not final count as cancelled.
-- ROLES coordinator
-- KEYS[1] the prefix of every key, `{<namespace>}:`
-- ARGV[1] batch id  [2] reason, '' for none
-- {'OK', new, finished}: `new` is 1 if this call cancelled the batch; `finished` is 1 if none of its operations is executing
-- {'GONE'} there is no such batch
-- {'FINISHED'} the batch has finished and was not cancelled
--#include prelude.lua
--#include cancel_batch.lua
--#include server_time.lua
local id, reason = ARGV[1], ARGV[2]
local key = KEY_BATCH .. id
local state, cancelled = unpack(redis.call('HMGET', key, 'state', 'flag.cancelled'))
if not state then return {'GONE'} end
if cancelled == '1' then return {'OK', 0, state == 'finished' and 1 or 0} end
if state == 'finished' then return {'FINISHED'} end
cancel_batch(id, reason, server_time())
return {'OK', 1, redis.call('HGET', key, 'state') == 'finished' and 1 or 0}
