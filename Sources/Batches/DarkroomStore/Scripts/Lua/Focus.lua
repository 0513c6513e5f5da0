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
--#include publish_batch_controls.lua
--#include publish_event.lua
--#include ready_sync.lua
--#include server_time.lua
local id, first, last, only, expected_first, expected_last = unpack(ARGV)
local key = KEY_BATCH .. id
local state, cancelled, photos, old_first, old_last, old_only = unpack(
    redis.call('HMGET', key, 'state', 'flag.cancelled', 'photos', FOCUS_FIELDS))
if not state then return {'GONE'} end
if cancelled == '1' then return {'CANCELLED'} end
if state == 'finished' then return {'FINISHED'} end
if expected_first and (old_first ~= expected_first or old_last ~= expected_last or old_only == '1') then
    return {'OK', 0, tonumber(photos)}
end
if (old_first or '') == first and (first == '' or old_last == last and (old_only or '0') == only) then
    return {'OK', 0, tonumber(photos)}
end
local value
if first == '' then
    redis.call('HDEL', key, FOCUS_FIELDS)
    value = '"first":null,"last":null,"only":null'
else
    redis.call('HSET', key, 'focus.first', first, 'focus.last', last, 'focus.only', only)
    value = '"first":' .. first .. ',"last":' .. last .. ',"only":' .. tostring(only == '1')
end
local now = server_time()
publish_event('focus', id, now, value)
publish_batch_controls(id)
ready_sync(id, now)
return {'OK', 1, tonumber(photos)}
