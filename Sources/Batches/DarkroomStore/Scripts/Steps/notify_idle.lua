-- Included. A worker that holds no operation has found none to claim. If other workers hold several operations, publishes a change
-- notice, so that they release some, see WorkerState+Sharing.swift. `workers` is the number of running workers. At most
-- one notice is sent in 100 ms and 2 ms for each worker, because each notice reaches all of them. Sets `again`: the worker claims
-- again after this number of ms, even if nothing enters a ready queue; 0 if other workers cannot release any. Expects `prefix` and
-- `now`.
do
    local workers = RUNNING_WORKERS
    if workers > 1 and redis.call('ZCARD', KEY_LEASES) > 1 then
        again = 500 + 10 * workers
        local since = now - (tonumber(redis.call('HGET', KEY_CONTROL, 'notified.idle')) or 0)  -- another program may have written a wrong value
        if not (since >= 0 and since < 100 + 2 * workers) then
            redis.call('HSET', KEY_CONTROL, 'notified.idle', now)
            redis.call('PUBLISH', CHANNEL_CONTROL, '{"change":"idle","workers":' .. workers .. '}')
        end
    end
end
