-- Ends the throttling of change notices for the priority of the batch with the hash `key`. Scripts include this step for changes made by a
-- user, because notices of such changes must be published at once.
local function reset_notify_throttle(key)
    redis.call('HDEL', KEY_CONTROL, 'notified.' .. (redis.call('HGET', key, 'priority') or 'normal'))
end
