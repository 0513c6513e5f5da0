-- Included. Sets `now`, the Redis clock in ms, and `attended`, the time in which leases are counted: it grows by what
-- passed since the last claim or heartbeat of anybody, by 3 s at most and by 0 when the clock went back.
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local counted = redis.call('HMGET', prefix .. 'control', 'seen', 'attended')
local passed = now - tonumber(counted[1] or now)
if passed < 0 then passed = 0 elseif passed > 3000 then passed = 3000 end
local attended = tonumber(counted[2] or 0) + passed
redis.call('HSET', prefix .. 'control', 'seen', now, 'attended', attended)
