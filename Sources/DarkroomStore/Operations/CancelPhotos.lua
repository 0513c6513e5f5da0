#!lua flags=allow-oom
-- Cancels photos one by one. The workers that run some of them get a hint. A queued operation with nothing left to do ends at
-- once if the batch writes no files; otherwise the worker that claims it writes the manifest lines of its photos and ends it.
-- KEYS[1] the prefix of every key, `{<namespace>}:`
-- ARGV[1] batch id  [2...] first and last index of each range, at most 1,000 photos together
-- {'OK', cancelled now, those that were final}  {'GONE'}  {'FINISHED'}  {'CANCELLED'} the whole batch was
-- {'UNFED', photos} only so many are fed; nothing was done
local prefix, id = KEYS[1], ARGV[1]
local key = prefix .. 'batch:' .. id
local b = redis.call('HMGET', key, 'state', 'flag.cancelled', 'size', 'photos', 'operations', 'operations.ended', 'sealed', 'operations.kept',
    'count.cancelled', 'count.downloaded', 'executing', 'output')
if not b[1] then return {'GONE'} end
if b[2] == '1' then return {'CANCELLED'} end
if b[1] == 'finished' then return {'FINISHED'} end
local size, photos, asked = tonumber(b[3]), tonumber(b[4]), 0
for i = 2, #ARGV, 2 do
    asked = asked + ARGV[i + 1] - ARGV[i] + 1
    if tonumber(ARGV[i + 1]) >= photos then return {'UNFED', photos} end
end
if asked > 1000 then return redis.error_reply('ERR a cancel of ' .. asked .. ' photos, at most 1000 are allowed') end

local cancelled, downloaded, touched, moved = 0, 0, {}, {}
for i = 2, #ARGV, 2 do
    local first = tonumber(ARGV[i])
    local old = redis.call('GETRANGE', key .. ':states', first, ARGV[i + 1])
    local new = string.gsub(old, '[ND]', 'C')
    if new ~= old then
        redis.call('SETRANGE', key .. ':states', first, new)
        local at = 0
        while true do
            at = string.find(old, '[ND]', at + 1)
            if not at then break end
            cancelled = cancelled + 1
            if string.byte(old, at) == 68 then downloaded = downloaded + 1 end
            local index = first + at - 1
            moved[#moved + 1] = '"' .. string.format('%.0f', index) .. '":"C"'
            touched[math.floor(index / size) + 1] = true
        end
    end
end
if cancelled == 0 then return {'OK', 0, asked} end

local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local ended, kept = tonumber(b[6]), tonumber(b[8])
for operation in pairs(touched) do
    if b[12] == '' and redis.call('ZSCORE', key .. ':queue', operation) then
        local letters = redis.call('GETRANGE', key .. ':states', (operation - 1) * size, math.min(operation * size, photos) - 1)
        if not string.find(letters, '[ND]') then
            redis.call('ZREM', key .. ':queue', operation)
            redis.call('HDEL', key .. ':deaths', operation)
            if string.find(letters, '%l') and kept < 10000 then
                kept = kept + 1
            else
                redis.call('HDEL', key .. ':operations', operation)
            end
            ended = ended + 1
            redis.call('PUBLISH', prefix .. 'events', '{"event":"ended","time":' .. now .. ',"batch":"' .. id .. '","operation":' .. operation .. '}')
        end
    end
end
redis.call('HSET', key, 'count.cancelled', b[9] + cancelled, 'count.downloaded', b[10] - downloaded, 'operations.ended', ended, 'operations.kept', kept)
redis.call('PUBLISH', prefix .. 'events', '{"event":"photos","time":' .. now .. ',"batch":"' .. id .. '","photos":{' .. table.concat(moved, ',') .. '}}')
redis.call('PUBLISH', prefix .. 'control', '{"change":"photos","batch":"' .. id .. '","version":' .. redis.call('HINCRBY', prefix .. 'control', 'version', 1) .. '}')
if b[7] == '1' and ended == tonumber(b[5]) and b[1] ~= 'waiting' then
--#include finish_batch.lua
end
--#include ready_sync.lua
return {'OK', cancelled, asked - cancelled}
