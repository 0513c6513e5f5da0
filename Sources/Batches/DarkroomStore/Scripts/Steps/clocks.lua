-- Included. Sets `now`, the time of the Redis server in ms since 1970, and two clocks. Leases expire by `lease_clock`. By
-- `retention_clock`, deferred operations become due and finished batches are deleted. Each claim, heartbeat or release of any
-- worker advances both clocks by the time since the previous one: `lease_clock` by at most 3 s, `retention_clock` by at most
-- 6 h, and neither if the clock of the server was set back.
--
-- This step is part of every claim, heartbeat and release. So it also repairs counters of `control` that another program has
-- damaged. A damaged counter continues from `now`, which is larger than any possible number of changes.
--#include now.lua
local counters = {'seen', 'lease.clock', 'retention.clock', 'claims', 'turn', 'entered', 'version', 'dependencies', 'taken'}
local counted = redis.call('HMGET', KEY_CONTROL, unpack(counters))
for i = 1, #counters do
    if counted[i] and not (string.find(counted[i], '^%d+$') and tonumber(counted[i]) <= 4503599627370496) then
        counted[i] = tostring(now)
        redis.call('HSET', KEY_CONTROL, counters[i], now)
    end
end
local passed = math.max(now - (tonumber(counted[1]) or now), 0)
local lease_clock = (tonumber(counted[2]) or 0) + math.min(passed, 3000)
local retention_clock = (tonumber(counted[3]) or 0) + math.min(passed, 21600000)
redis.call('HSET', KEY_CONTROL, 'seen', now, 'lease.clock', lease_clock, 'retention.clock', retention_clock)
