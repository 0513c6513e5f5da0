-- Included. A worker that holds no operation has found none to claim. If other workers hold several operations, publishes a change
-- notice, so that they release operations of which no photo has begun, see WorkerState+Sharing.swift. `workers` is the number of
-- running workers, `operations` is the number of operations that they hold. The time between two notices grows with the number
-- of workers, because each notice reaches all of them. Sets `again`: the worker claims again after this number of ms, even if
-- nothing enters a ready queue; 0 if there is nothing to release. Expects `prefix` and `now`.
do
    local workers, operations = RUNNING_WORKERS, redis.call('ZCARD', KEY_LEASES)
    if operations > 1 and workers > 1 then
        again = 500 + 10 * workers
        local since = now - (tonumber(redis.call('HGET', KEY_CONTROL, 'notified.idle')) or 0)  -- another program may have written a wrong value
        if not (since >= 0 and since < 100 + 2 * workers) then
            redis.call('HSET', KEY_CONTROL, 'notified.idle', now)
            redis.call('PUBLISH', CHANNEL_CONTROL, '{"change":"idle","workers":' .. workers .. ',"operations":' .. operations .. '}')
        end
    end
end
