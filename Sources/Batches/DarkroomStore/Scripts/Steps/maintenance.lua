-- Included. The maintenance that every claim and heartbeat does after it has renewed the caller's leases. Records that `worker`
-- is running ('': no worker). Removes up to 10 workers that have sent no claim or heartbeat for an hour. Queues up to 50
-- operations whose leases have expired, and counts these leases. Lets deferred operations be claimed that are due (see
-- resume_deferred.lua). Does one step of releasing the dependents of a finished batch, and one step of forgetting each of up to
-- 10 batches whose retention is over. Sets `more`, 1 if there is more to do. Expects `prefix`, `now`, `lease_clock`,
-- `retention_clock` and `fields`.
local more = 0
if worker ~= '' then redis.call('ZADD', KEY_WORKERS, now, worker) end
-- A heartbeat in the future is from before the clock of the server was set back. It counts as a heartbeat of now, so that a
-- worker that has ended meanwhile becomes silent.
for _, early in ipairs(redis.call('ZRANGEBYSCORE', KEY_WORKERS, '(' .. now, '+inf', 'LIMIT', 0, 100)) do
    redis.call('ZADD', KEY_WORKERS, now, early)
end
for _, silent in ipairs(redis.call('ZRANGEBYSCORE', KEY_WORKERS, '-inf', now - 3600000, 'LIMIT', 0, 10)) do
    redis.call('ZREM', KEY_WORKERS, silent)
    redis.call('UNLINK', KEY_WORKER .. silent, KEY_WORKER .. silent .. REFUSED)
end
local expired = redis.call('ZRANGEBYSCORE', KEY_LEASES, '-inf', '(' .. lease_clock, 'LIMIT', 0, 50)
if #expired == 50 then more = 1 end
local leases_expired = 0
for _, member in ipairs(expired) do
    redis.call('ZREM', KEY_LEASES, member)
    local id, number = string.match(member, '^(.*)/(%d+)$')
    local key = KEY_BATCH .. (id or '')
    local b = fields(key, REQUEUE_FIELDS)
    local from, to, is_valid, operation = 1, 8, nil, tonumber(number)
--#include check_batch.lua
    if b[10] and is_valid and operation <= tonumber(b[5]) and redis.call('HEXISTS', key .. EXECUTING, number) == 1 then
        local lease_expired, deferral, ended = true, 0, false
--#include requeue_operation.lua
        leases_expired = leases_expired + 1
    end
end
do
    local totals = {'leases.expired', leases_expired}
--#include add_totals.lua
end
--#include resume_deferred.lua
for _, id in ipairs(redis.call('ZRANGE', KEY_RELEASES, 0, 0)) do
    local released
--#include release_dependents.lua
    if released then redis.call('ZREM', KEY_RELEASES, id) end
end
local due_batches = redis.call('ZRANGEBYSCORE', KEY_EXPIRING, '-inf', now, 'LIMIT', 0, 11)
if #due_batches == 11 then more = 1 end
for i = 1, math.min(#due_batches, 10) do
    local id = due_batches[i]
    local e = fields(KEY_BATCH .. id, 'state', 'expires')
    local left = e[1] and (tonumber(e[2]) or 0) - retention_clock or 0
    if left > 0 then  -- the time has jumped: the batch was not retained for its full time
        redis.call('ZADD', KEY_EXPIRING, now + left, id)
    else
        local forgotten
--#include delete_step.lua
        if not forgotten then more = 1 end
    end
end
more = math.max(more, redis.call('EXISTS', KEY_RELEASES))
