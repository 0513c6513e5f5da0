-- Included. Notes that what holds for the batch `id` with the hash `key` has changed, and tells the workers. Expects `prefix`.
do
    local steering
--#include batch_controls.lua
    redis.call('PUBLISH', prefix .. 'control', '{"change":"batch","batch":"' .. id .. '","steering":"' .. steering .. '","version":'
        .. redis.call('HINCRBY', prefix .. 'control', 'version', 1) .. '}')
end
