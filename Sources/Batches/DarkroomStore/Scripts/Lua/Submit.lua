#!lua
-- Submits a batch: writes its options and counters. The batch has no photos yet.
-- ROLES coordinator
-- KEYS[1] the prefix of every key, `{<namespace>}:`
-- ARGV[1] batch id  [2] output folder, '' for none  [3] the number in the holder file of that folder, 0 if there is none
--     [4] '1': the batch takes the folder even if another batch has it  [5] name of the batch, '' for none
--     [6] number of batches that this batch waits for, at most 100  [7...] their ids, then field, value, ... of the options
-- {'OK', time of submission}
-- {'EXISTS'} a batch with this id has already been submitted
-- {'FORGOTTEN'} a batch with this id was submitted earlier and has been forgotten
-- {'OUTPUT', batch id} that batch writes to the folder
-- {'NAME', batch id} that batch has the name, is not finished and is not cancelled
-- {'GONE', batch id} there is no such batch to wait for
--#include prelude.lua
--#include batch_fields.lua
--#include cancel_batch.lua
--#include list_batch.lua
--#include publish_event.lua
--#include server_time.lua
--#include take_output.lua
local id, output, seen, takes_output, name, others = unpack(ARGV, 1, 6)
others = tonumber(others)
local key = KEY_BATCH .. id
if redis.call('ZSCORE', KEY_FORGOTTEN, id) then return {'FORGOTTEN'} end
-- Whether a torn append-only file has left only the first part of the submission of a batch: its options, without a state. If a key of
-- the batch has a wrong type, its state is nil, not false.
local function is_torn(batch)
    return batch_fields(KEY_BATCH .. batch, 'state') == false and not redis.call('ZSCORE', KEY_FORGOTTEN, batch)
end
if redis.call('EXISTS', key) == 1 and not is_torn(id) then
    if redis.call('TYPE', key).ok == 'hash' then list_batch(id) end
    return {'EXISTS'}
end
local waits, failed_dependency = {}, nil
for i = 7, 6 + others do
    local other = ARGV[i]
    local state, cancelled, failed = unpack(redis.call('HMGET', KEY_BATCH .. other, OUTCOME_FIELDS))
    if not state then return {'GONE', other} end
    if state ~= 'finished' then waits[#waits + 1] = other elseif cancelled == '1' or failed ~= '0' then failed_dependency = other end
end
if name ~= '' then
    local other = redis.call('HGET', KEY_NAMES, name)
    if other then
        local state, cancelled = unpack(redis.call('HMGET', KEY_BATCH .. other, 'state', 'flag.cancelled'))
        if state and state ~= 'finished' and cancelled ~= '1' then return {'NAME', other} end
    end
end
if output ~= '' then
    local other = redis.call('HGET', KEY_OUTPUTS, output)
    local is_taken = other and redis.call('EXISTS', KEY_BATCH .. other) == 1 and not is_torn(other)
    if is_taken and takes_output ~= '1' then return {'OUTPUT', other} end
end
local now = server_time()
redis.call('HSET', key, unpack(ARGV, 7 + others))
if output ~= '' then take_output(id, output, now, tonumber(seen)) end
if name ~= '' then redis.call('HSET', KEY_NAMES, name, id) end
redis.call('HSET', key, 'state', #waits == 0 and 'ready' or 'waiting', 'submitted', now, 'started', '', 'finished', '', 'feeder.seen', now,
    'photos', 0, 'operations', 0, 'operations.ended', 0, 'operations.kept', 0, 'executing', 0, 'sealed', 0, 'round', 1,
    'count.downloaded', 0, 'count.filtered', 0, 'count.failed', 0, 'count.cancelled', 0, 'bytes.in', 0, 'bytes.out', 0,
    'feed.digest', '')
redis.call('ZADD', KEY_BATCHES, now, id)
redis.pcall('ZADD', KEY_OPEN, now, id)  -- a key of another type is removed by Repair.lua
publish_event('submitted', id, now)
if #waits == 0 then
    publish_event('isReady', id, now, '"value":true')
else
    redis.call('HINCRBY', KEY_CONTROL, 'dependencies', 1)
    redis.call('SADD', key .. DEPENDENCIES, unpack(waits))
    for _, other in ipairs(waits) do redis.call('SADD', KEY_BATCH .. other .. DEPENDENTS, id) end
    publish_event('dependencies', id, now, '"value":' .. redis.call('SCARD', key .. DEPENDENCIES))
end
if failed_dependency and redis.call('HGET', key, 'after.success') == '1' then
    cancel_batch(id, failed_dependency .. ' did not succeed', now)
end
return {'OK', now}
