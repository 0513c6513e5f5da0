--#include batch_fields.lua
--#include publish_event.lua
--#include release_dependents.lua

-- Does one step of forgetting the batch `id`. Returns true if the batch is forgotten. The first step removes the state, so that no script
-- writes to the batch any more, and adds the id to the sorted set `forgotten`, which keeps the newest 10,000 ids. Each step removes at
-- most 100 dependents, 100 dependencies and 100 leases; the step that removes the last of them also removes all other keys. Keys of a
-- wrong type are removed at once.
local function forget_step(id, now)
    local key = KEY_BATCH .. id
    for suffix, wanted in pairs(batch_key_types) do
        local found = redis.call('TYPE', key .. suffix).ok
        if found ~= wanted and found ~= 'none' then redis.call('UNLINK', key .. suffix) end
    end
    local output, rounds, name = unpack(redis.call('HMGET', key, 'output', 'round', 'name'))
    redis.call('HDEL', key, 'state')
    redis.pcall('ZREM', KEY_OPEN, id)
    redis.call('ZADD', KEY_FORGOTTEN, 'NX', now, id)
    redis.call('ZREMRANGEBYRANK', KEY_FORGOTTEN, 0, -10001)
    release_dependents(id, now)
    for _, awaited in ipairs(redis.call('SRANDMEMBER', key .. DEPENDENCIES, 100)) do
        if redis.call('TYPE', KEY_BATCH .. awaited .. DEPENDENTS).ok == 'set' then
            redis.call('SREM', KEY_BATCH .. awaited .. DEPENDENTS, id)
        end
        redis.call('SREM', key .. DEPENDENCIES, awaited)
    end
    for _, priority in ipairs({PRIORITIES}) do redis.call('ZREM', KEY_READY .. priority, id) end
    local operations = redis.call('HRANDFIELD', key .. EXECUTING, 100)
    for _, operation in ipairs(operations) do
        redis.call('ZREM', KEY_LEASES, id .. '/' .. operation)
        redis.call('HDEL', key .. EXECUTING, operation)
    end
    local forgotten = redis.call('EXISTS', key .. EXECUTING, key .. DEPENDENTS, key .. DEPENDENCIES) == 0
    if forgotten then
        if output and redis.call('HGET', KEY_OUTPUTS, output) == id then redis.call('HDEL', KEY_OUTPUTS, output) end
        if name and redis.call('HGET', KEY_NAMES, name) == id then redis.call('HDEL', KEY_NAMES, name) end
        redis.call('UNLINK', key, key .. STATES, key .. OPERATIONS, key .. QUEUE, key .. LEASE_EXPIRIES, key .. RETRIES, key .. FAILURES, key .. REASONS)
        redis.call('ZREM', KEY_BATCHES, id)
        redis.call('ZREM', KEY_EXPIRING, id)
        redis.call('ZREM', KEY_RELEASES, id)
        redis.call('ZREM', KEY_DEFERRED, id)
        rounds = math.min(tonumber(rounds) or 0, 1000000)  -- earlier rounds may have pending webhooks, too
        for round = math.max(1, rounds - 99), rounds do redis.call('ZREM', KEY_WEBHOOKS, id .. ' ' .. round) end
        publish_event('forgotten', id, now)
    else
        redis.call('ZADD', KEY_EXPIRING, 0, id)  -- if the caller stops here, claims and heartbeats continue the removal
    end
    return forgotten
end
