-- Included. Notes that what holds for the batch `id` with the hash `key` has changed, and tells the workers. Expects `prefix`.
do
    local steering
--#include batch_controls.lua
    redis.call('PUBLISH', CHANNEL_CONTROL, '{"change":"batch","batch":"' .. id .. '","steering":"' .. steering .. '","version":'
        .. redis.call('HINCRBY', KEY_CONTROL, 'version', 1) .. '}')
end
