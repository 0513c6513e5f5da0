#!lua flags=allow-oom
-- Sets the number of concurrent downloads and filtrations of every worker. These limits override the options of the workers.
-- ROLES coordinator
-- KEYS[1] the prefix of every key, `{<namespace>}:`
-- ARGV[1] downloads  [2] filtrations; each a number, '' to leave the limit as it is, '0' to remove it
-- {'OK', changed}: `changed` is 1 if a limit changed
--#include prelude.lua
--#include publish_cluster_controls.lua
--#include server_time.lua
local fields, changed = {LIMIT_FIELDS}, 0
for i, field in ipairs(fields) do
    local limit = ARGV[i]
    if limit ~= '' and (redis.call('HGET', KEY_CONTROL, field) or '0') ~= limit then
        changed = 1
        if limit == '0' then
            redis.call('HDEL', KEY_CONTROL, field)
        else
            redis.call('HSET', KEY_CONTROL, field, limit)
        end
    end
end
if changed == 1 then
    local downloads, filtrations = unpack(redis.call('HMGET', KEY_CONTROL, LIMIT_FIELDS))
    redis.call('PUBLISH', CHANNEL_EVENTS, '{"event":"limits","time":' .. server_time() .. ',"downloads":' .. (downloads or 'null')
        .. ',"filtrations":' .. (filtrations or 'null') .. '}')
    publish_cluster_controls()
end
return {'OK', changed}
