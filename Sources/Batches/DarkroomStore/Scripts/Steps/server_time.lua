-- Returns the time of the Redis server in ms since 1970.
local function server_time()
    local seconds, microseconds = unpack(redis.call('TIME'))
    return seconds * 1000 + math.floor(microseconds / 1000)
end
