--#include batch_controls.lua

-- Counts a change of the controls of the batch `id`, and publishes these controls.
local function publish_batch_controls(id)
    local controls = batch_controls(KEY_BATCH .. id)
    redis.call('PUBLISH', CHANNEL_CONTROL, '{"change":"batch","batch":"' .. id .. '","controls":"' .. controls .. '","version":'
        .. redis.call('HINCRBY', KEY_CONTROL, 'version', 1) .. '}')
end
