-- Included. Notes that what holds for the whole cluster has changed, and tells the workers. Expects `prefix`.
do
    local version, cluster
    redis.call('HINCRBY', prefix .. 'control', 'version', 1)
--#include cluster_controls.lua
    redis.call('PUBLISH', prefix .. 'control', '{"change":"cluster","cluster":"' .. cluster .. '","version":' .. version .. '}')
end
