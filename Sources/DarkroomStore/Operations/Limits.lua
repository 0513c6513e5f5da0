#!lua flags=allow-oom
-- Sets how much every worker does at once, over what each was started with.
-- KEYS[1] the prefix of every key, `{<namespace>}:`
-- ARGV[1] downloads  [2] filtrations; each a number, '' to leave it as it is, '0' to leave it to each worker
-- {'OK', 1 when something changed}
local prefix, fields, changed = KEYS[1], {'downloads.limit', 'filtrations.limit'}, 0
for i = 1, 2 do
    if ARGV[i] ~= '' and (redis.call('HGET', prefix .. 'control', fields[i]) or '0') ~= ARGV[i] then
        changed = 1
        if ARGV[i] == '0' then
            redis.call('HDEL', prefix .. 'control', fields[i])
        else
            redis.call('HSET', prefix .. 'control', fields[i], ARGV[i])
        end
    end
end
if changed == 1 then
    local clock = redis.call('TIME')
    local l = redis.call('HMGET', prefix .. 'control', 'downloads.limit', 'filtrations.limit')
    redis.call('PUBLISH', prefix .. 'events', '{"event":"limits","time":' .. clock[1] * 1000 + math.floor(clock[2] / 1000)
        .. ',"downloads":' .. (l[1] or 'null') .. ',"filtrations":' .. (l[2] or 'null') .. '}')
--#include publish_cluster_controls.lua
end
return {'OK', changed}
