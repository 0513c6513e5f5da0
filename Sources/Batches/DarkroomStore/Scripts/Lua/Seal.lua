#!lua flags=allow-oom
-- Seals a batch. After this call, no more operations can be fed to it.
-- ROLES coordinator
-- KEYS[1] the prefix of every key, `{<namespace>}:`
-- ARGV[1] batch id  [2] operations  [3] photos, as the feeder counted them
-- {'OK'} sealed
-- {'GONE'} there is no such batch
-- {'CANCELLED'} the batch is cancelled
-- {'DIFFERS', operations, photos} Redis has other numbers, which are in the reply; nothing was written
--#include prelude.lua
local id = ARGV[1]
local key = KEY_BATCH .. id
local b = redis.call('HMGET', key, 'state', 'operations', 'photos', 'sealed', 'operations.ended', 'flag.cancelled')
if not b[1] then return {'GONE'} end
if b[6] == '1' then return {'CANCELLED'} end
if b[2] ~= ARGV[2] or b[3] ~= ARGV[3] then return {'DIFFERS', tonumber(b[2]), tonumber(b[3])} end
if b[4] == '1' then return {'OK'} end
redis.call('HSET', key, 'sealed', 1)
if b[5] == b[2] and b[1] ~= 'waiting' then
--#include now.lua
--#include finish_batch.lua
end
return {'OK'}
