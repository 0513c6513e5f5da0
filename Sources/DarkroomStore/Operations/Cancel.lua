#!lua flags=allow-oom
-- Cancels a batch: nothing of it is handed out any more, what is not final counts as cancelled.
-- KEYS[1] the prefix of every key, `{<namespace>}:`
-- ARGV[1] batch id  [2] reason, '' for none
-- {'OK', 1 when it was not cancelled before, 1 when nothing of it executes (any more)}  {'GONE'}
-- {'FINISHED'} it was over, and not by a cancel
--#include prelude.lua
local id, reason = ARGV[1], ARGV[2]
local key = KEY_BATCH .. id
local b = redis.call('HMGET', key, 'state', 'flag.cancelled')
if not b[1] then return {'GONE'} end
if b[2] == '1' then return {'OK', 0, b[1] == 'finished' and 1 or 0} end
if b[1] == 'finished' then return {'FINISHED'} end
--#include now.lua
--#include cancel_batch.lua
return {'OK', 1, redis.call('HGET', key, 'state') == 'finished' and 1 or 0}
