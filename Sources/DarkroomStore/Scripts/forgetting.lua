-- Included. One step of forgetting the batch `id` as a whole: first its state goes, so that nobody writes to it any more,
-- then the leases of at most 100 operations that execute, and with the last of them everything else. Sets `forgotten`.
-- Expects `prefix`.
local key = prefix .. 'batch:' .. id
local facts = redis.call('HMGET', key, 'priority', 'output')
redis.call('HDEL', key, 'state')
if facts[1] then redis.call('ZREM', prefix .. 'ready:' .. facts[1], id) end
local operations = redis.call('HRANDFIELD', key .. ':executing', 100)
for _, operation in ipairs(operations) do
    redis.call('ZREM', prefix .. 'leases', id .. '/' .. operation)
    redis.call('HDEL', key .. ':executing', operation)
end
forgotten = redis.call('EXISTS', key .. ':executing') == 0
if forgotten then
    if facts[2] and redis.call('HGET', prefix .. 'outputs', facts[2]) == id then redis.call('HDEL', prefix .. 'outputs', facts[2]) end
    redis.call('UNLINK', key, key .. ':states', key .. ':operations', key .. ':queue', key .. ':deaths', key .. ':failures', key .. ':reasons')
    redis.call('ZREM', prefix .. 'batches', id)
    redis.call('ZREM', prefix .. 'expiring', id)
else
    redis.call('ZADD', prefix .. 'expiring', 0, id)  -- whoever began may be gone: any claim or heartbeat goes on
end
