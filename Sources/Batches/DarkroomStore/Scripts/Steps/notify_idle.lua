--#include running_workers.lua

-- A worker that holds no operation has found none to claim. If other workers hold several operations, publishes a change notice, so that
-- they release some, see WorkerState+Sharing.swift. `workers` is the number of running workers. At most one notice is sent in 100 ms plus 2
-- ms per worker, because each notice reaches all workers. Returns the number of ms after which the worker claims again, even if no batch
-- enters a ready queue; 0 if the other workers have no operation to release.
local function notify_idle(now)
    local workers = running_workers(now)
    if workers <= 1 or redis.call('ZCARD', KEY_LEASES) <= 1 then return 0 end
    local since = now - (tonumber(redis.call('HGET', KEY_CONTROL, 'notified.idle')) or 0)  -- another program may have written a wrong value
    if not (since >= 0 and since < 100 + 2 * workers) then
        redis.call('HSET', KEY_CONTROL, 'notified.idle', now)
        redis.call('PUBLISH', CHANNEL_CONTROL, '{"change":"idle","workers":' .. workers .. '}')
    end
    return 500 + 10 * workers
end
