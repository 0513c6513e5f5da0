--#include server_time.lua

-- Returns the time of the Redis server in ms since 1970, and two clocks. Leases expire by `lease_clock`. By `retention_clock`, deferred
-- operations become due and finished batches are deleted. Each claim, heartbeat or release of any worker advances both clocks by the
-- time since the previous one: `lease_clock` by at most 3 s, `retention_clock` by at most 6 h, and neither if the clock of the server
-- was set back.
--
-- This step is part of every claim, heartbeat and release. Therefore it also repairs counters of `control` that another program has
-- damaged. A damaged counter continues from `now`, which is larger than any possible number of changes.
local function advance_clocks()
    local now = server_time()
    local names = {'seen', 'lease.clock', 'retention.clock', 'claims', 'turn', 'entered', 'version', 'dependencies', 'taken'}
    local counters = redis.call('HMGET', KEY_CONTROL, unpack(names))
    for i, name in ipairs(names) do
        local counter = counters[i]
        if counter and not (string.find(counter, '^%d+$') and tonumber(counter) <= 4503599627370496) then
            counters[i] = tostring(now)
            redis.call('HSET', KEY_CONTROL, name, now)
        end
    end
    local seen, lease_clock, retention_clock = unpack(counters, 1, 3)
    local passed = math.max(now - (tonumber(seen) or now), 0)
    lease_clock = (tonumber(lease_clock) or 0) + math.min(passed, 3000)
    retention_clock = (tonumber(retention_clock) or 0) + math.min(passed, 21600000)
    redis.call('HSET', KEY_CONTROL, 'seen', now, 'lease.clock', lease_clock, 'retention.clock', retention_clock)
    return now, lease_clock, retention_clock
end
