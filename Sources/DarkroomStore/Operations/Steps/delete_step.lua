-- Included. One step of forgetting the batch `id` as a whole: first its state goes, so that nobody writes to it any more,
-- and its id goes into the sorted set `forgotten`, which keeps the newest 10,000; then at most 100 of the batches that wait
-- for it, of those that it waits for, and of the leases of its executing operations; with the last of them all other keys.
-- Keys of a wrong type are removed at once. Sets `forgotten`. Expects `prefix`, `now`, and `types` and `fields` of read_batch.lua.
local key = prefix .. 'batch:' .. id
for suffix, wanted in pairs(types) do
    local found = redis.call('TYPE', key .. suffix).ok
    if found ~= wanted and found ~= 'none' then redis.call('UNLINK', key .. suffix) end
end
local facts = redis.call('HMGET', key, 'priority', 'output', 'round', 'name')
redis.call('HDEL', key, 'state')
redis.call('ZADD', prefix .. 'forgotten', 'NX', now, id)
redis.call('ZREMRANGEBYRANK', prefix .. 'forgotten', 0, -10001)
local released
--#include release_dependents.lua
for _, awaited in ipairs(redis.call('SRANDMEMBER', key .. ':dependencies', 100)) do
    if redis.call('TYPE', prefix .. 'batch:' .. awaited .. ':dependents').ok == 'set' then
        redis.call('SREM', prefix .. 'batch:' .. awaited .. ':dependents', id)
    end
    redis.call('SREM', key .. ':dependencies', awaited)
end
for _, priority in ipairs({'veryLow', 'low', 'normal', 'high', 'veryHigh'}) do redis.call('ZREM', prefix .. 'ready:' .. priority, id) end
local operations = redis.call('HRANDFIELD', key .. ':executing', 100)
for _, operation in ipairs(operations) do
    redis.call('ZREM', prefix .. 'leases', id .. '/' .. operation)
    redis.call('HDEL', key .. ':executing', operation)
end
forgotten = redis.call('EXISTS', key .. ':executing', key .. ':dependents', key .. ':dependencies') == 0
if forgotten then
    if facts[2] and redis.call('HGET', prefix .. 'outputs', facts[2]) == id then redis.call('HDEL', prefix .. 'outputs', facts[2]) end
    if facts[4] and redis.call('HGET', prefix .. 'names', facts[4]) == id then redis.call('HDEL', prefix .. 'names', facts[4]) end
    redis.call('UNLINK', key, key .. ':states', key .. ':operations', key .. ':queue', key .. ':deaths', key .. ':failures', key .. ':reasons')
    redis.call('ZREM', prefix .. 'batches', id)
    redis.call('ZREM', prefix .. 'expiring', id)
    redis.call('ZREM', prefix .. 'releases', id)
    local rounds = math.min(tonumber(facts[3]) or 0, 1000000)  -- of a batch that was retried an earlier one may be waiting for its call, too
    for round = math.max(1, rounds - 99), rounds do redis.call('ZREM', prefix .. 'webhooks', id .. ' ' .. round) end
    redis.call('PUBLISH', prefix .. 'events', '{"event":"forgotten","time":' .. now .. ',"batch":"' .. id .. '"}')
else
    redis.call('ZADD', prefix .. 'expiring', 0, id)  -- whoever began may be gone: any claim or heartbeat goes on
end
