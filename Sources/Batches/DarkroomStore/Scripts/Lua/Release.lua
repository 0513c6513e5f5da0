#!lua flags=allow-oom
-- Releases an operation that a worker holds: it is queued again, and no lease expiry is counted. If its photos wait long for their
-- next attempt, it is deferred.
-- ROLES worker
-- KEYS[1] the prefix of every key, `{<namespace>}:`
-- ARGV[1] worker id  [2] fencing token  [3] batch id  [4] operation number
--     [5] '1': the worker refuses the batch, so no change notice is published
--     [6] the operation is deferred for this number of ms, 0 to MOST_DEFERRAL; 0: it can be claimed at once
--     [7] what the worker knows about the retries of photos (see RetryCoding.swift), for the next worker; '': nothing
-- {'OK'} queued
-- {'GONE'} there is no such batch
-- {'LOST'} the operation was already queued again, or another worker holds it
-- {'ENDED', codes} the operation has ended: all its photos are final
-- {'CANCELLED', codes} the batch is cancelled, so the operation has ended; `codes` has C in place of N and D
--#include prelude.lua
local worker, token, id, operation = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local key = KEY_BATCH .. id
ARGV.no_notice = ARGV[5] == '1'
local b = redis.call('HMGET', key, REQUEUE_FIELDS)
local from, to, is_valid = 1, 8, nil
--#include check_batch.lua
if not b[10] or not is_valid then return {'GONE'} end
local holder = redis.call('HGET', key .. EXECUTING, operation)
local mine = worker .. ' ' .. token .. ' '
local ended = not holder and operation <= tonumber(b[5]) and not redis.call('ZSCORE', key .. QUEUE, operation)
if holder and string.sub(holder, 1, #mine) == mine then
--#include clocks.lua
    local lease_expired, deferral = false, tonumber(ARGV[6])
    redis.call('ZREM', KEY_LEASES, id .. '/' .. operation)
--#include requeue_operation.lua
    if not ended then
        if ARGV[7] ~= '' then
            redis.call('HSET', key .. RETRIES, operation, string.format('%.0f ', retention_clock) .. ARGV[7])
        else
            redis.call('HDEL', key .. RETRIES, operation)
        end
        redis.call('PUBLISH', CHANNEL_EVENTS, '{"event":"released",' .. TIME_AND_BATCH .. ',"operation":' .. operation .. '}')
        return {'OK'}
    end
elseif holder or not ended and b[11] ~= '1' or operation > tonumber(b[5]) then
    return {'LOST'}
end
local codes = redis.call('GETRANGE', key .. STATES, (operation - 1) * b[1], math.min(operation * b[1], tonumber(b[2])) - 1)
if b[11] == '1' then return {'CANCELLED', (string.gsub(codes, '[ND]', 'C'))} end
return {'ENDED', codes}
