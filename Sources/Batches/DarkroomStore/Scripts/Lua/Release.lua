#!lua flags=allow-oom
-- Releases an operation that a worker holds: it is queued again, and no lease expiry is counted. If its photos wait long for their next
-- download attempts, the operation is deferred.
-- ROLES worker
-- KEYS[1] the prefix of every key, `{<namespace>}:`
-- ARGV[1] worker id  [2] fencing token  [3] batch id  [4] operation number
--     [5] '1': the worker refuses the batch, so no change notice is published
--     [6] the operation is deferred for this number of ms, 0 to MOST_DEFERRAL; 0: it can be claimed at once
--     [7] the facts about retries of photos (see RetryCoding.swift) for the next worker, '' for none
-- {'OK'} queued
-- {'GONE'} there is no such batch
-- {'LOST'} the operation was already queued again, or another worker holds it
-- {'ENDED', codes} the operation has ended: all its photos are final
-- {'CANCELLED', codes} the batch is cancelled, so the operation has ended; `codes` has C in place of N and D
--#include prelude.lua
--#include advance_clocks.lua
--#include publish_event.lua
--#include requeue_operation.lua
local worker, token, id, operation, refuses, deferral, retries = unpack(ARGV)
operation = tonumber(operation)
local key = KEY_BATCH .. id
local batch = requeue_facts(unpack(redis.call('HMGET', key, REQUEUE_FIELDS)))
if not can_requeue(batch) then return {'GONE'} end
local holder = redis.call('HGET', key .. EXECUTING, operation)
local mine = worker .. ' ' .. token .. ' '
local ended = not holder and operation <= tonumber(batch.operations) and not redis.call('ZSCORE', key .. QUEUE, operation)
if holder and string.sub(holder, 1, #mine) == mine then
    local now, _, retention_clock = advance_clocks()
    redis.call('ZREM', KEY_LEASES, id .. '/' .. operation)
    ended = requeue_operation(id, operation, batch, now, retention_clock, false, tonumber(deferral), refuses == '1')
    if not ended then
        if retries ~= '' then
            redis.call('HSET', key .. RETRIES, operation, string.format('%.0f ', retention_clock) .. retries)
        else
            redis.call('HDEL', key .. RETRIES, operation)
        end
        publish_event('released', id, now, '"operation":' .. operation)
        return {'OK'}
    end
elseif holder or not ended and not batch.is_cancelled or operation > tonumber(batch.operations) then
    return {'LOST'}
end
local codes = redis.call('GETRANGE', key .. STATES, (operation - 1) * batch.size, math.min(operation * batch.size, tonumber(batch.photos)) - 1)
if batch.is_cancelled then return {'CANCELLED', (string.gsub(codes, '[ND]', 'C'))} end
return {'ENDED', codes}
