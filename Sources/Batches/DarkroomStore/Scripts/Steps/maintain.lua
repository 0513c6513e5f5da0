-- The maintenance that every claim and heartbeat does after it has renewed the caller's leases. Records that `worker` is running ('': no
-- worker). Each part does a bounded amount of work. Returns 1 if there is more to do, else 0.
local function maintain(worker, now, lease_clock, retention_clock)
    local more = false
    if worker ~= '' then redis.call('ZADD', KEY_WORKERS, now, worker) end
    -- A heartbeat in the future was sent before the clock of the server was set back. Its time is set to `now`, so that the worker counts
    -- as lost if it sends no other heartbeat.
    for _, early in ipairs(redis.call('ZRANGEBYSCORE', KEY_WORKERS, '(' .. now, '+inf', 'LIMIT', 0, 100)) do
        redis.call('ZADD', KEY_WORKERS, now, early)
    end
    -- Removes up to 10 workers that have sent no claim or heartbeat for an hour.
    for _, silent in ipairs(redis.call('ZRANGEBYSCORE', KEY_WORKERS, '-inf', now - 3600000, 'LIMIT', 0, 10)) do
        redis.call('ZREM', KEY_WORKERS, silent)
        redis.call('UNLINK', KEY_WORKER .. silent, KEY_WORKER .. silent .. REFUSED)
    end

    -- Queues up to 50 operations whose leases have expired.
    local expired = redis.call('ZRANGEBYSCORE', KEY_LEASES, '-inf', '(' .. lease_clock, 'LIMIT', 0, 50)
    if #expired > 0 then
        --#include requeue_expired.lua
        requeue_expired(expired, now, retention_clock)
        more = #expired == 50
    end

    -- Makes due deferred operations of up to 10 batches claimable.
    local due = redis.call('ZRANGEBYSCORE', KEY_DEFERRED, '-inf', retention_clock, 'LIMIT', 0, 10)
    if #due > 0 then
        --#include resume_deferred.lua
        more = resume_deferred(due, DEFERRED, DEFERRED + retention_clock, now) or more
    end
    -- An operation whose due time is too far in the future was deferred before the retention clock was set back, and is due now.
    local latest = retention_clock + MOST_DEFERRAL
    local too_late = redis.call('ZRANGEBYSCORE', KEY_DEFERRED, '(' .. latest, '+inf', 'LIMIT', 0, 10)
    if #too_late > 0 then
        --#include resume_deferred.lua
        more = resume_deferred(too_late, '(' .. DEFERRED + latest, '+inf', now) or more
    end

    -- Does one step of releasing the dependents of a finished batch.
    for _, id in ipairs(redis.call('ZRANGE', KEY_RELEASES, 0, 0)) do
        --#include release_dependents.lua
        if release_dependents(id, now) then redis.call('ZREM', KEY_RELEASES, id) end
    end

    -- Forgets up to 10 batches whose retention is over.
    local over = redis.call('ZRANGEBYSCORE', KEY_EXPIRING, '-inf', now, 'LIMIT', 0, 11)
    if #over > 0 then
        --#include forget_expired.lua
        if #over == 11 then more = true end
        for i = 1, math.min(#over, 10) do
            if not forget_expired(over[i], now, retention_clock) then more = true end
        end
    end
    return (redis.call('EXISTS', KEY_RELEASES) == 1 or more) and 1 or 0
end
