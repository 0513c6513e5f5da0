#!lua flags=allow-oom
-- Sets or clears the focus of a batch: the photos that run next. Nothing is moved, so any range costs the same.
-- KEYS[1] the prefix of every key, `{<namespace>}:`
-- ARGV[1] batch id  [2] first index, '' to clear  [3] last index  [4] '1': operations that do not touch the range wait
-- {'OK', 1 when it was another, photos fed}  {'GONE'}  {'FINISHED'}  {'CANCELLED'}
local prefix, id, first, last, only = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local key = prefix .. 'batch:' .. id
local b = redis.call('HMGET', key, 'state', 'flag.cancelled', 'photos', 'focus.first', 'focus.last', 'focus.only')
if not b[1] then return {'GONE'} end
if b[2] == '1' then return {'CANCELLED'} end
if b[1] == 'finished' then return {'FINISHED'} end
if (b[4] or '') == first and (first == '' or b[5] == last and (b[6] or '0') == only) then return {'OK', 0, tonumber(b[3])} end
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local value
if first == '' then
    redis.call('HDEL', key, 'focus.first', 'focus.last', 'focus.only')
    value = '"first":null,"last":null,"only":null'
else
    redis.call('HSET', key, 'focus.first', first, 'focus.last', last, 'focus.only', only)
    value = '"first":' .. first .. ',"last":' .. last .. ',"only":' .. tostring(only == '1')
end
redis.call('PUBLISH', prefix .. 'events', '{"event":"focus","time":' .. now .. ',"batch":"' .. id .. '",' .. value .. '}')
--#include publish_batch_controls.lua
--#include ready_sync.lua
return {'OK', 1, tonumber(b[3])}
