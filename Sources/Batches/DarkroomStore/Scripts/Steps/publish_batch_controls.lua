-- Included. Counts a change of the controls of the batch `id` with the hash `key`, and publishes these controls. Expects `prefix`.
do
    local controls
--#include batch_controls.lua
    redis.call('PUBLISH', CHANNEL_CONTROL, '{"change":"batch","batch":"' .. id .. '","controls":"' .. controls .. '","version":'
        .. redis.call('HINCRBY', KEY_CONTROL, 'version', 1) .. '}')
end
