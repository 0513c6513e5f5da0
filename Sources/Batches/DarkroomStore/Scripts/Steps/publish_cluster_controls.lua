-- Included. Counts a change of the controls of the cluster, and publishes these controls. Expects `prefix`.
do
    local version, cluster
    redis.call('HINCRBY', KEY_CONTROL, 'version', 1)
--#include cluster_controls.lua
    redis.call('PUBLISH', CHANNEL_CONTROL, '{"change":"cluster","cluster":"' .. cluster .. '","version":' .. version .. '}')
end
