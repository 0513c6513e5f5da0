#!lua
-- Submits a batch: its facts and counters, no photos yet.
-- KEYS[1] the prefix of every key, `{<namespace>}:`
-- ARGV[1] batch id  [2] output folder, '' for none  [3] the number in the holder file of that folder, 0 if
--     there is none  [4] 1 to take the folder even if another batch has it  [5] name of the batch, '' for none
--     [6] number of batches that it waits for, at most 100
--     [7...] their ids, then field, value, ...
-- {'OK', time of submission}  {'EXISTS'} submitted before  {'FORGOTTEN'} submitted and forgotten before
-- {'OUTPUT', batch id} that batch writes to the folder
-- {'NAME', batch id} that batch has the name and is not over  {'GONE', batch id} there is no such batch to wait for
local prefix, id, output, name, others = KEYS[1], ARGV[1], ARGV[2], ARGV[5], tonumber(ARGV[6])
local key = prefix .. 'batch:' .. id
if redis.call('ZSCORE', prefix .. 'forgotten', id) then return {'FORGOTTEN'} end
if redis.call('EXISTS', key) == 1 then return {'EXISTS'} end
local waits, hopeless = {}, nil
for i = 7, 6 + others do
    local o = redis.call('HMGET', prefix .. 'batch:' .. ARGV[i], 'state', 'flag.cancelled', 'count.failed')
    if not o[1] then return {'GONE', ARGV[i]} end
    if o[1] ~= 'finished' then waits[#waits + 1] = ARGV[i] elseif o[2] == '1' or o[3] ~= '0' then hopeless = ARGV[i] end
end
if name ~= '' then
    local other = redis.call('HGET', prefix .. 'names', name)
    if other then
        local o = redis.call('HMGET', prefix .. 'batch:' .. other, 'state', 'flag.cancelled')
        if o[1] and o[1] ~= 'finished' and o[2] ~= '1' then return {'NAME', other} end
    end
end
if output ~= '' then
    local other = redis.call('HGET', prefix .. 'outputs', output)
    if other and ARGV[4] ~= '1' and redis.call('EXISTS', prefix .. 'batch:' .. other) == 1 then return {'OUTPUT', other} end
end
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
redis.call('HSET', key, unpack(ARGV, 7 + others))
if output ~= '' then
    local seen, taken = tonumber(ARGV[3]), nil
--#include take_output.lua
    redis.call('HSET', key, 'output.taken', taken)
end
if name ~= '' then redis.call('HSET', prefix .. 'names', name, id) end
redis.call('HSET', key, 'state', #waits == 0 and 'ready' or 'waiting', 'submitted', now, 'started', '', 'finished', '', 'feeder.seen', now,
    'photos', 0, 'operations', 0, 'operations.ended', 0, 'operations.kept', 0, 'executing', 0, 'sealed', 0, 'round', 1,
    'count.downloaded', 0, 'count.filtered', 0, 'count.failed', 0, 'count.cancelled', 0, 'bytes.in', 0, 'bytes.out', 0,
    'feed.digest', '')
redis.call('ZADD', prefix .. 'batches', now, id)
local about = '"time":' .. now .. ',"batch":"' .. id .. '"'
redis.call('PUBLISH', prefix .. 'events', '{"event":"submitted",' .. about .. '}')
if #waits == 0 then
    redis.call('PUBLISH', prefix .. 'events', '{"event":"isReady",' .. about .. ',"value":true}')
else
    redis.call('HINCRBY', prefix .. 'control', 'dependencies', 1)
    redis.call('SADD', key .. ':dependencies', unpack(waits))
    for _, other in ipairs(waits) do redis.call('SADD', prefix .. 'batch:' .. other .. ':dependents', id) end
    redis.call('PUBLISH', prefix .. 'events', '{"event":"dependencies",' .. about .. ',"value":' .. redis.call('SCARD', key .. ':dependencies') .. '}')
end
if hopeless and redis.call('HGET', key, 'after.success') == '1' then
    local reason = hopeless .. ' did not succeed'
--#include cancel_batch.lua
end
return {'OK', now}
