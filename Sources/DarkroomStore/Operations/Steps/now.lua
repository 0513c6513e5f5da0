-- Included. Sets `now`, the Redis clock in ms since 1970.
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
