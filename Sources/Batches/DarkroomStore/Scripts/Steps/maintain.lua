--#include batch_fields.lua
--#include resume_deferred.lua

-- Records that `worker` is running ('': no worker). Removes up to 10 workers that have sent no claim or heartbeat for an hour.
local function record_worker(worker, now)
    if worker ~= '' then redis.call('ZADD', KEY_WORKERS, now, worker) end
    -- A heartbeat in the future is from before the clock of the server was set back. It counts as a heartbeat of now, so that a
    -- worker that has ended since then becomes silent.
    for _, early in ipairs(redis.call('ZRANGEBYSCORE', KEY_WORKERS, '(' .. now, '+inf', 'LIMIT', 0, 100)) do
        redis.call('ZADD', KEY_WORKERS, now, early)
    end
    for _, silent in ipairs(redis.call('ZRANGEBYSCORE', KEY_WORKERS, '-inf', now - 3600000, 'LIMIT', 0, 10)) do
        redis.call('ZREM', KEY_WORKERS, silent)
        redis.call('UNLINK', KEY_WORKER .. silent, KEY_WORKER .. silent .. REFUSED)
    end
end

-- Queues up to 50 operations whose leases have expired, and counts these leases. Returns true if there may be more.
local function requeue_expired(now, lease_clock, retention_clock)
    local expired = redis.call('ZRANGEBYSCORE', KEY_LEASES, '-inf', '(' .. lease_clock, 'LIMIT', 0, 50)
    if #expired == 0 then return false end
    --#include add_totals.lua
    --#include requeue_operation.lua
    local leases_expired = 0
    for _, member in ipairs(expired) do
        redis.call('ZREM', KEY_LEASES, member)
        local id, number = string.match(member, '^(.*)/(%d+)$')
        local key, operation = KEY_BATCH .. (id or ''), tonumber(number)
        local facts = requeue_facts(batch_fields(key, REQUEUE_FIELDS))
        if can_requeue(facts) and operation <= tonumber(facts.operations) and redis.call('HEXISTS', key .. EXECUTING, number) == 1 then
            requeue_operation(id, operation, facts, now, retention_clock, true, 0)
            leases_expired = leases_expired + 1
        end
    end
    add_totals({'leases.expired', leases_expired})
    return #expired == 50
end

-- Does one step of releasing the dependents of a finished batch.
local function release_next_dependents(now)
    for _, id in ipairs(redis.call('ZRANGE', KEY_RELEASES, 0, 0)) do
        --#include release_dependents.lua
        if release_dependents(id, now) then redis.call('ZREM', KEY_RELEASES, id) end
    end
end

-- Does one step of forgetting each of up to 10 batches whose retention is over. Returns true if there is more to do.
local function forget_expired(now, retention_clock)
    local due = redis.call('ZRANGEBYSCORE', KEY_EXPIRING, '-inf', now, 'LIMIT', 0, 11)
    if #due == 0 then return false end
    --#include forget_step.lua
    local more = #due == 11
    for i = 1, math.min(#due, 10) do
        local id = due[i]
        local state, expires = batch_fields(KEY_BATCH .. id, 'state', 'expires')
        local left = state and (tonumber(expires) or 0) - retention_clock or 0
        if left > 0 then  -- the time has jumped: the batch was not retained for its full time
            redis.call('ZADD', KEY_EXPIRING, now + left, id)
        elseif not forget_step(id, now) then
            more = true
        end
    end
    return more
end

-- The maintenance that every claim and heartbeat does after it has renewed the caller's leases. Returns 1 if there is more to do, else 0.
local function maintain(worker, now, lease_clock, retention_clock)
    record_worker(worker, now)
    local more_expired = requeue_expired(now, lease_clock, retention_clock)
    local more_deferred = resume_deferred(now, retention_clock)
    release_next_dependents(now)
    local more_to_forget = forget_expired(now, retention_clock)
    local more_to_release = redis.call('EXISTS', KEY_RELEASES) == 1
    return (more_expired or more_deferred or more_to_forget or more_to_release) and 1 or 0
end
