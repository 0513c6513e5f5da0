-- Included. Sets `now`, the Redis clock in ms, and `lease_clock`, the clock by which leases expire: it advances by the time
-- since the last claim or heartbeat of any worker, by 3 s at most and by 0 if the clock went back. `retention_clock`, by which
-- finished batches are retained, advances in the same way, by 6 h at most.
--
-- Every claim and heartbeat includes this step, so it also repairs the counters of `control` that another program has
-- damaged. A damaged counter goes on from `now`, which is larger than any number of changes.
--#include now.lua
local counters = {'seen', 'lease.clock', 'retention.clock', 'claims', 'turn', 'version', 'dependencies', 'taken'}
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
