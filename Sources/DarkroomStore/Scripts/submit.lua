#!lua
-- Submits a batch: its facts and counters, no photos yet.
-- KEYS[1] the prefix of every key, `{<namespace>}:`
-- ARGV[1] batch id  [2] output folder, '' for none  [3] '1': take a folder that another batch has  [4...] field, value, ...
-- {'OK', time of submission}  {'EXISTS'} submitted before  {'OUTPUT', batch id} that batch writes to the folder
local prefix, id, output = KEYS[1], ARGV[1], ARGV[2]
local key = prefix .. 'batch:' .. id
if redis.call('EXISTS', key) == 1 then return {'EXISTS'} end
if output ~= '' then
    local other = redis.call('HGET', prefix .. 'outputs', output)
    if other and ARGV[3] ~= '1' then return {'OUTPUT', other} end
    redis.call('HSET', prefix .. 'outputs', output, id)
end
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
redis.call('HSET', key, unpack(ARGV, 4))
redis.call('HSET', key, 'state', 'ready', 'submitted', now, 'started', '', 'finished', '', 'feeder.seen', now,
    'photos', 0, 'operations', 0, 'operations.ended', 0, 'operations.kept', 0, 'executing', 0, 'sealed', 0, 'round', 1,
    'count.downloaded', 0, 'count.filtered', 0, 'count.failed', 0, 'count.cancelled', 0, 'bytes.in', 0, 'bytes.out', 0,
    'feed.digest', '')
redis.call('ZADD', prefix .. 'batches', now, id)
return {'OK', now}
