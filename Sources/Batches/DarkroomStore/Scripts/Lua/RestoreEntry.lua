#!lua
-- Restores the entry of an operation that ended with failures, so that the operation can be retried.
-- ROLES coordinator
-- KEYS[1] the prefix of every key, `{<namespace>}:`
-- ARGV[1] batch id  [2] operation number  [3] entry, as it was fed
-- {'OK'} written
-- {'GONE'} there is no such batch
-- {'NEEDLESS'} the operation has not ended, none of its photos failed, or Redis still has its entry
--#include prelude.lua
local id, operation, entry = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local key = KEY_BATCH .. id
local state, size, photos, operations, cancelled = unpack(
    redis.call('HMGET', key, 'state', 'size', 'photos', 'operations', 'flag.cancelled'))
if not state then return {'GONE'} end
if cancelled == '1' or operation > tonumber(operations) or redis.call('ZSCORE', key .. QUEUE, operation)
    or redis.call('HEXISTS', key .. EXECUTING, operation) == 1 or redis.call('HEXISTS', key .. OPERATIONS, operation) == 1 then
    return {'NEEDLESS'}
end
local codes = redis.call('GETRANGE', key .. STATES, (operation - 1) * size, math.min(operation * size, tonumber(photos)) - 1)
if not string.find(codes, '[FAILURE_CODES]') then return {'NEEDLESS'} end
redis.call('HSET', key .. OPERATIONS, operation, entry)
redis.call('HINCRBY', key, 'operations.kept', 1)
return {'OK'}
