-- Included. Sets `now`, the time of the Redis server in ms since 1970.
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
