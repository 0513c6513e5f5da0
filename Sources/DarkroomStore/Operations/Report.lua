#!lua flags=allow-oom
-- A worker reports what became of the photos of one operation; the report that makes the last of them final ends it.
-- KEYS[1] the prefix of every key, `{<namespace>}:`
-- ARGV[1] worker id  [2] fence  [3] batch id  [4] operation number
--     [5] a letter a photo: `.` no news, `N` downloaded bytes were thrown away, `D`, `F`, `C`, a small letter for a failure;
--         what was reported before may be said again
--         what says nothing at all (`.` only) says that something begins of which a worker could die; what says anything, that
--         it is over: see requeue_operation.lua
--     [6] [7] bytes in and out of all photos that this claim has made final  [8...] photo index, JSON of failures,
--     kept of the first 10,000 where it has at most 512 bytes
-- {'OK', 1 when the operation has ended, letters, version}: the letters as they stand where a final one was met that differs,
--     else ''; the number of the last change of a flag
-- {'GONE'}  {'LOST'} queued again or another's  {'ENDED', letters} neither queued nor executing
-- {'CANCELLED', letters} its batch is cancelled, nothing was changed; N and D are C then
--#include prelude.lua
local worker, fence, id, operation, news = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5]
local key = KEY_BATCH .. id
local b = redis.call('HMGET', key, 'state', 'size', 'photos', 'operations', 'operations.ended', 'sealed', 'executing', 'count.downloaded',
    'count.filtered', 'count.failed', 'count.cancelled', 'bytes.in', 'bytes.out', 'operations.kept', 'flag.cancelled', 'output')
local from, to, sound = 2, 14, nil
--#include check_batch.lua
if not b[1] or not sound then return {'GONE'} end
local size, photos = tonumber(b[2]), tonumber(b[3])
local first = (operation - 1) * size
local old = redis.call('GETRANGE', key .. STATES, first, math.min(first + size, photos) - 1)
local holder = redis.call('HGET', key .. EXECUTING, operation)
local mine = worker .. ' ' .. fence .. ' '
if b[15] == '1' and operation <= tonumber(b[4]) and (not holder or string.sub(holder, 1, #mine) == mine) then
    return {'CANCELLED', (string.gsub(old, '[ND]', 'C'))}
end
if not holder or string.sub(holder, 1, #mine) ~= mine then
    if holder or operation > tonumber(b[4]) or redis.call('ZSCORE', key .. QUEUE, operation) then return {'LOST'} end
    return {'ENDED', old}
end
if #news ~= #old or string.find(news, '[^%.NDFC%l]') then
    return redis.error_reply('ERR a report of ' .. #news .. ' letters "' .. news .. '" for an operation of ' .. #old .. ' photos')
end

local downloaded, filtered, failed, cancelled, differs = 0, 0, 0, 0, false
local reasons, moved = {}, {}
local new = old
if not string.find(old, '[^N]') and not string.find(news, '[^F]') then
    new, filtered = news, #news
elseif old ~= news then
    local parts = {}
    for from = 1, #old, 25 do
        local o, n = string.sub(old, from, from + 24), string.sub(news, from, from + 24)
        if o ~= n and string.find(n, '[^%.]') then
            local was, is = {string.byte(o, 1, -1)}, {string.byte(n, 1, -1)}
            for i = 1, #was do
                local a, z = was[i], is[i]
                if z ~= 46 and z ~= a then
                    if a ~= 78 and a ~= 68 then  -- neither N nor D: final
                        differs = true
                    else
                        if a == 68 then downloaded = downloaded - 1 end
                        if z == 68 then
                            downloaded = downloaded + 1
                        elseif z == 70 then
                            filtered = filtered + 1
                        elseif z == 67 then
                            cancelled = cancelled + 1
                        elseif z ~= 78 then
                            failed = failed + 1
                            reasons[z] = (reasons[z] or 0) + 1
                            moved[first + from + i - 2] = true
                        end
                        was[i] = z
                    end
                end
            end
            o = string.char(unpack(was))
        end
        parts[#parts + 1] = o
    end
    new = table.concat(parts)
end

if new ~= old then redis.call('SETRANGE', key .. STATES, first, new) end
local changes = {}
if downloaded ~= 0 or filtered > 0 or failed > 0 or cancelled > 0 then
    changes = {'count.downloaded', b[8] + downloaded, 'count.filtered', b[9] + filtered, 'count.failed', b[10] + failed, 'count.cancelled', b[11] + cancelled}
end
if failed > 0 then
    for letter, count in pairs(reasons) do redis.call('HINCRBY', key .. REASONS, string.char(letter), count) end
    local kept, room = {}, 10000 - redis.call('HLEN', key .. FAILURES)
    for i = 8, #ARGV, 2 do
        if #kept < 2 * room and #ARGV[i + 1] <= 512 and moved[tonumber(ARGV[i])] then
            kept[#kept + 1] = ARGV[i]
            kept[#kept + 1] = ARGV[i + 1]
        end
    end
    if #kept > 0 then redis.call('HSET', key .. FAILURES, unpack(kept)) end
end
local bytes_in, bytes_out = string.match(holder, ' (%d+) (%d+) ?%l*$')
if tonumber(ARGV[6]) > tonumber(bytes_in) then
    changes[#changes + 1] = 'bytes.in'
    changes[#changes + 1] = string.format('%.0f', b[12] + ARGV[6] - bytes_in)
    bytes_in = ARGV[6]
end
if tonumber(ARGV[7]) > tonumber(bytes_out) then
    changes[#changes + 1] = 'bytes.out'
    changes[#changes + 1] = string.format('%.0f', b[13] + ARGV[7] - bytes_out)
    bytes_out = ARGV[7]
end

local ended = not string.find(new, '[ND]')
if ended and b[16] ~= '' then
    -- A photo that was cancelled alone since the worker last heard of it has no line in the manifest: the worker is told of it,
    -- and reports again with its line.
    local at = string.find(old, 'C', 1, true)
    while at do
        if string.find(news, '^[%.ND]', at) then ended, differs = false, true end
        at = string.find(old, 'C', at + 1, true)
    end
end
if ended then
    redis.call('HDEL', key .. EXECUTING, operation)
    redis.call('ZREM', KEY_LEASES, id .. '/' .. operation)
    redis.call('HDEL', key .. DEATHS, operation)
    local kept = tonumber(b[14])
    if string.find(new, '%l') and kept < MOST_ENTRIES_KEPT then
        changes[#changes + 1] = 'operations.kept'
        changes[#changes + 1] = kept + 1
    else
        redis.call('HDEL', key .. OPERATIONS, operation)
    end
    local n = #changes
    changes[n + 1], changes[n + 2], changes[n + 3], changes[n + 4] = 'executing', b[7] - 1, 'operations.ended', b[5] + 1
else
    redis.call('HSET', key .. EXECUTING, operation, mine .. bytes_in .. ' ' .. bytes_out .. (string.find(news, '[^%.]') and '' or ' begun'))
    if filtered + failed + cancelled > 0 and (tonumber(redis.call('HGET', key .. DEATHS, operation)) or 0) > 2 then
        redis.call('HSET', key .. DEATHS, operation, 2)
    end
end
if #changes > 0 then redis.call('HSET', key, unpack(changes)) end
if ended then
--#include now.lua
    redis.call('PUBLISH', CHANNEL_EVENTS, '{"event":"ended",' .. TIME_AND_BATCH .. ',"operation":' .. operation .. '}')
    if b[6] == '1' and b[5] + 1 == tonumber(b[4]) then
--#include finish_batch.lua
    end
end
return {'OK', ended and 1 or 0, differs and new or '', tonumber(redis.call('HGET', KEY_CONTROL, 'version') or 0)}
