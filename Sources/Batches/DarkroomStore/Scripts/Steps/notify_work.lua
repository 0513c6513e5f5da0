--#include running_workers.lua

-- Publishes a change notice: `operations` operations of `priority` can be claimed. Publishes nothing if, within the last 100 ms, a notice
-- for this priority announced more than half as many operations. `workers` is the number of running workers. Each worker draws a random
-- number to decide whether it claims, see ChangeNotice.swift.
local function notify_work(now, priority, operations)
    local notified, notified_operations = unpack(
        redis.call('HMGET', KEY_CONTROL, 'notified.' .. priority, 'notified.operations.' .. priority))
    local since = now - (tonumber(notified) or 0)  -- another program may have written a wrong value
    if not (since >= 0 and since < 100) or operations >= 2 * (tonumber(notified_operations) or 0) then
        redis.call('HSET', KEY_CONTROL, 'notified.' .. priority, now, 'notified.operations.' .. priority, operations)
        redis.call('PUBLISH', CHANNEL_CONTROL, '{"change":"work","workers":' .. running_workers(now)
            .. ',"priority":"' .. priority .. '","operations":' .. operations .. '}')
    end
end
