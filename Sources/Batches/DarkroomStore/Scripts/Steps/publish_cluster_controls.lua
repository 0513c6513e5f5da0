--#include cluster_controls.lua

-- Counts a change of the controls of the cluster, and publishes these controls.
local function publish_cluster_controls()
    redis.call('HINCRBY', KEY_CONTROL, 'version', 1)
    local version, cluster = cluster_controls()
    redis.call('PUBLISH', CHANNEL_CONTROL, '{"change":"cluster","cluster":"' .. cluster .. '","version":' .. version .. '}')
end
