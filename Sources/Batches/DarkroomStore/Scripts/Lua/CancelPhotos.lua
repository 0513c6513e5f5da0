#!lua flags=allow-oom
-- Cancels individual photos of a batch. Workers that are running some of these photos get a change notice. If all photos of a
-- queued operation have become final, the operation ends at once. But if the batch writes files, the operation does not end here:
-- the worker that claims it writes the manifest lines of the cancelled photos, and ends the operation.
-- ROLES coordinator
-- KEYS[1] the prefix of every key, `{<namespace>}:`
-- ARGV[1] batch id  [2...] first and last index of each range, at most 1,000 photos in all
-- {'OK', cancelled, final}: the number of photos that this call cancelled, and the number of photos that were already final
-- {'GONE'} there is no such batch
-- {'FINISHED'} the batch has finished
-- {'CANCELLED'} the whole batch is cancelled
-- {'UNFED', photos} a range exceeds the number of photos fed so far, which is `photos`; nothing was done
--#include prelude.lua
--#include add_totals.lua
--#include finish_batch.lua
--#include most_kept.lua
--#include publish_event.lua
--#include ready_sync.lua
--#include server_time.lua
local id = ARGV[1]
local key = KEY_BATCH .. id
local state, batch_cancelled, size, photos, operations, ended, sealed, kept, count_cancelled, count_downloaded, output = unpack(
    redis.call('HMGET', key, 'state', 'flag.cancelled', 'size', 'photos', 'operations', 'operations.ended', 'sealed', 'operations.kept',
        'count.cancelled', 'count.downloaded', 'output'))
if not state then return {'GONE'} end
if batch_cancelled == '1' then return {'CANCELLED'} end
if state == 'finished' then return {'FINISHED'} end
size, photos = tonumber(size), tonumber(photos)
local asked = 0
for i = 2, #ARGV, 2 do
    local first, last = tonumber(ARGV[i]), tonumber(ARGV[i + 1])
    asked = asked + last - first + 1
    if last >= photos then return {'UNFED', photos} end
end
if asked > 1000 then return redis.error_reply('ERR a cancel of ' .. asked .. ' photos, at most 1000 are allowed') end

local cancelled, downloaded, touched, moved = 0, 0, {}, {}
for i = 2, #ARGV, 2 do
    local first, last = tonumber(ARGV[i]), tonumber(ARGV[i + 1])
    local old = redis.call('GETRANGE', key .. STATES, first, last)
    local new = string.gsub(old, '[ND]', 'C')
    if new ~= old then
        redis.call('SETRANGE', key .. STATES, first, new)
        local at = 0
        while true do
            at = string.find(old, '[ND]', at + 1)
            if not at then break end
            cancelled = cancelled + 1
            if string.sub(old, at, at) == 'D' then downloaded = downloaded + 1 end
            local index = first + at - 1
            moved[#moved + 1] = '"' .. string.format('%.0f', index) .. '":"C"'
            touched[math.floor(index / size) + 1] = true
        end
    end
end
if cancelled == 0 then return {'OK', 0, asked} end

local now = server_time()
ended, kept = tonumber(ended), tonumber(kept)
for operation in pairs(touched) do
    if redis.call('ZSCORE', key .. QUEUE, operation) then
        local codes = redis.call('GETRANGE', key .. STATES, (operation - 1) * size, math.min(operation * size, photos) - 1)
        if string.find(codes, '[ND]') then
            -- The operation continues.
        elseif output ~= '' then
            redis.call('ZADD', key .. QUEUE, operation, operation)  -- due at once, even if it was deferred
        else
            redis.call('ZREM', key .. QUEUE, operation)
            redis.call('HDEL', key .. LEASE_EXPIRIES, operation)
            redis.call('HDEL', key .. RETRIES, operation)
            if string.find(codes, '[FAILURE_CODES]') and kept < most_kept() then
                kept = kept + 1
            else
                redis.call('HDEL', key .. OPERATIONS, operation)
            end
            ended = ended + 1
            publish_event('ended', id, now, '"operation":' .. operation)
        end
    end
end
add_totals({'photos.cancelled', cancelled})
redis.call('HSET', key, 'count.cancelled', count_cancelled + cancelled, 'count.downloaded', count_downloaded - downloaded,
    'operations.ended', ended, 'operations.kept', kept)
publish_event('photos', id, now, '"photos":{' .. table.concat(moved, ',') .. '}')
redis.call('PUBLISH', CHANNEL_CONTROL, '{"change":"photos","batch":"' .. id .. '","version":' .. redis.call('HINCRBY', KEY_CONTROL, 'version', 1) .. '}')
if sealed == '1' and ended == tonumber(operations) and state ~= 'waiting' then finish_batch(id, now) end
ready_sync(id, now)
return {'OK', cancelled, asked - cancelled}
