#!lua flags=allow-oom
-- A worker says that it lives and renews what it holds; also sent with no worker, for the housekeeping alone.
-- KEYS[1] the prefix of every key, `{<namespace>}:`
-- ARGV[1] worker id, '' for none  [2] number of facts  [3...] field, value of each, then what the worker holds (see renew.lua)
-- {'OK', lost}: batch id, operation number, fence, ... of what it no longer holds
local prefix, worker = KEYS[1], ARGV[1]
--#include time.lua
local at = 3 + 2 * ARGV[2]
if worker ~= '' and at > 3 then redis.call('HSET', prefix .. 'worker:' .. worker, unpack(ARGV, 3, at - 1)) end
--#include renew.lua
--#include housekeeping.lua
return {'OK', lost}
