#!lua flags=allow-oom
-- Sets or clears the focus of a batch: the photos that run next. Moves no data, so the cost does not depend on the range.
-- ROLES coordinator
-- KEYS[1] the prefix of every key, `{<namespace>}:`
-- ARGV[1] batch id  [2] first index, '' to clear  [3] last index  [4] '1': operations outside the range wait
--     [5] [6] if given: first and last index of a focus without `only`; if the batch has another focus, nothing changes
-- {'OK', new, photos}: `new` is 1 if this call changed the focus; `photos` is the number of photos fed so far
-- {'GONE'} there is no such batch
-- {'FINISHED'} the batch has finished
-- {'CANCELLED'} the batch is cancelled
--#include prelude.lua
local id, first, last, only = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local key = KEY_BATCH .. id
local b = redis.call('HMGET', key, 'state', 'flag.cancelled', 'photos', FOCUS_FIELDS)
if not b[1] then return {'GONE'} end
if b[2] == '1' then return {'CANCELLED'} end
if b[1] == 'finished' then return {'FINISHED'} end
if ARGV[5] and (b[4] ~= ARGV[5] or b[5] ~= ARGV[6] or b[6] == '1') then return {'OK', 0, tonumber(b[3])} end
if (b[4] or '') == first and (first == '' or b[5] == last and (b[6] or '0') == only) then return {'OK', 0, tonumber(b[3])} end
--#include now.lua
local value
if first == '' then
    redis.call('HDEL', key, FOCUS_FIELDS)
    value = '"first":null,"last":null,"only":null'
else
    redis.call('HSET', key, 'focus.first', first, 'focus.last', last, 'focus.only', only)
    value = '"first":' .. first .. ',"last":' .. last .. ',"only":' .. tostring(only == '1')
end
redis.call('PUBLISH', CHANNEL_EVENTS, '{"event":"focus",' .. TIME_AND_BATCH .. ',' .. value .. '}')
--#include publish_batch_controls.lua
--#include ready_sync.lua
return {'OK', 1, tonumber(b[3])}
