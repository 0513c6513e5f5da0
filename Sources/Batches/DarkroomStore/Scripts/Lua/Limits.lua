#!lua flags=allow-oom
-- Sets the number of concurrent downloads and filtrations of every worker. These limits override the workers' own options.
-- ROLES coordinator
-- KEYS[1] the prefix of every key, `{<namespace>}:`
-- ARGV[1] downloads  [2] filtrations; each a number, '' to leave the limit as it is, '0' to remove it
-- {'OK', changed}: `changed` is 1 if a limit changed
--#include prelude.lua
local fields, changed = {LIMIT_FIELDS}, 0
for i = 1, 2 do
    if ARGV[i] ~= '' and (redis.call('HGET', KEY_CONTROL, fields[i]) or '0') ~= ARGV[i] then
        changed = 1
        if ARGV[i] == '0' then
            redis.call('HDEL', KEY_CONTROL, fields[i])
        else
            redis.call('HSET', KEY_CONTROL, fields[i], ARGV[i])
        end
    end
end
if changed == 1 then
--#include now.lua
    local l = redis.call('HMGET', KEY_CONTROL, LIMIT_FIELDS)
    redis.call('PUBLISH', CHANNEL_EVENTS, '{"event":"limits","time":' .. now .. ',"downloads":' .. (l[1] or 'null') .. ',"filtrations":' .. (l[2] or 'null') .. '}')
--#include publish_cluster_controls.lua
end
return {'OK', changed}
