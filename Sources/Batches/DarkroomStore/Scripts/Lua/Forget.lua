#!lua flags=allow-oom
-- Forgets a batch. Each call does one bounded step.
-- ROLES coordinator
-- KEYS[1] the prefix of every key, `{<namespace>}:`
-- ARGV[1] batch id  [2] '1': forget the batch even if it has not finished
-- {'OK'} forgotten
-- {'MORE'} call again
-- {'GONE'} there is no such batch
-- {'UNFINISHED', state} the batch has not finished; nothing was done
--#include prelude.lua
--#include batch_fields.lua
--#include forget_step.lua
--#include server_time.lua
local id, even_unfinished = ARGV[1], ARGV[2] == '1'
if redis.call('EXISTS', KEY_BATCH .. id) == 0 then return {'GONE'} end
local state = batch_fields(KEY_BATCH .. id, 'state')
if state and state ~= 'finished' and not even_unfinished then return {'UNFINISHED', state} end
return {forget_step(id, server_time()) and 'OK' or 'MORE'}
