-- Included. Sets `now`, the Redis clock in ms, and `attended`, the time in which leases are counted: it grows by what
-- passed since the last claim or heartbeat of anybody, by 3 s at most and by 0 when the clock went back; in the same way the
-- field `aged` of `control`, the time in which batches are retained, by 6 h at most.
--
-- Every claim and heartbeat includes this file, so it also repairs the counters of `control` that another program has
-- damaged. A damaged counter goes on from `now`, which is larger than any number of changes.
--#include now.lua
local counters = {'seen', 'attended', 'aged', 'claims', 'turn', 'version', 'dependencies', 'taken'}
local counted = redis.call('HMGET', KEY_CONTROL, unpack(counters))
for i = 1, #counters do
    if counted[i] and not (string.find(counted[i], '^%d+$') and tonumber(counted[i]) <= 4503599627370496) then
        counted[i] = tostring(now)
        redis.call('HSET', KEY_CONTROL, counters[i], now)
    end
end
local passed = math.max(now - (tonumber(counted[1]) or now), 0)
local attended = (tonumber(counted[2]) or 0) + math.min(passed, 3000)
local aged = (tonumber(counted[3]) or 0) + math.min(passed, 21600000)
redis.call('HSET', KEY_CONTROL, 'seen', now, 'attended', attended, 'aged', aged)
