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
--#include finish_batch.lua
--#include server_time.lua
local id, counted_operations, counted_photos = unpack(ARGV)
local key = KEY_BATCH .. id
local state, operations, photos, sealed, ended, cancelled = unpack(
    redis.call('HMGET', key, 'state', 'operations', 'photos', 'sealed', 'operations.ended', 'flag.cancelled'))
if not state then return {'GONE'} end
if cancelled == '1' then return {'CANCELLED'} end
if operations ~= counted_operations or photos ~= counted_photos then return {'DIFFERS', tonumber(operations), tonumber(photos)} end
if sealed == '1' then return {'OK'} end
redis.call('HSET', key, 'sealed', 1)
if ended == operations and state ~= 'waiting' then finish_batch(id, server_time()) end
return {'OK'}
