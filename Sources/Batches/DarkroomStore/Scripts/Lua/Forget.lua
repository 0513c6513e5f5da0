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
local id = ARGV[1]
--#include read_batch.lua
if redis.call('EXISTS', KEY_BATCH .. id) == 0 then return {'GONE'} end
local state = fields(KEY_BATCH .. id, 'state')[1]
if state and state ~= 'finished' and ARGV[2] ~= '1' then return {'UNFINISHED', state} end
--#include now.lua
local forgotten
--#include delete_step.lua
return {forgotten and 'OK' or 'MORE'}
