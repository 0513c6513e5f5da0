#!lua flags=allow-oom
-- Reports the states of the photos of one operation. The report that makes the last photo final ends the operation.
-- ROLES worker
-- KEYS[1] the prefix of every key, `{<namespace>}:`
-- ARGV[1] worker id  [2] fencing token  [3] batch id  [4] operation number
--     [5] one state code per photo: `.` unchanged, `N` downloaded bytes discarded, `D`, `F`, `C`, or one of FAILURE_CODES;
--     `G` is `F` of a photo that lost its gain map, which is counted when the photo becomes final.
--     A state may be reported again. A report that contains only `.` says that a crash probe begins; any other report says that
--     the crash probe is over (see requeue_operation.lua)
--     [6] [7] bytes in and out of all photos that became final since this claim
--     [8...] photo index and JSON of each failure. At most MOST_KEPT are kept per batch, none longer than 512 bytes
-- {'OK', ended, codes, version}: `ended` is 1 if the operation has ended. `codes` are the state codes if a final code differs
--     from the reported code, else ''. `version` is the number of the last change of a control
-- {'GONE'} there is no such batch
-- {'LOST'} the operation is queued again, or another worker holds it
-- {'ENDED', codes} the operation has ended
-- {'CANCELLED', codes} the batch is cancelled, and nothing was changed; `codes` has C in place of N and D
--#include prelude.lua
local worker, token, id, operation, reported = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5]
local key = KEY_BATCH .. id
local b = redis.call('HMGET', key, 'state', 'size', 'photos', 'operations', 'operations.ended', 'sealed', 'executing', 'count.downloaded',
    'count.filtered', 'count.failed', 'count.cancelled', 'bytes.in', 'bytes.out', 'operations.kept', 'flag.cancelled', 'output')
local from, to, is_valid = 2, 14, nil
--#include check_batch.lua
if not b[1] or not is_valid then return {'GONE'} end
local size, photos = tonumber(b[2]), tonumber(b[3])
local first = (operation - 1) * size
local old = redis.call('GETRANGE', key .. STATES, first, math.min(first + size, photos) - 1)
local holder = redis.call('HGET', key .. EXECUTING, operation)
local mine = worker .. ' ' .. token .. ' '
if b[15] == '1' and operation <= tonumber(b[4]) and (not holder or string.sub(holder, 1, #mine) == mine) then
    return {'CANCELLED', (string.gsub(old, '[ND]', 'C'))}
end
if not holder or string.sub(holder, 1, #mine) ~= mine then
    if holder or operation > tonumber(b[4]) or redis.call('ZSCORE', key .. QUEUE, operation) then return {'LOST'} end
    return {'ENDED', old}
end
if #reported ~= #old or string.find(reported, '[^FAILURE_CODES%.NDFGC]') then
    return redis.error_reply('ERR a report of ' .. #reported .. ' codes "' .. reported .. '" for an operation of ' .. #old .. ' photos')
end

local downloaded, filtered, failed, cancelled, lost_gain_maps, differs = 0, 0, 0, 0, 0, false
local reasons, moved = {}, {}
local new = old
if not string.find(old, '[^N]') and not string.find(reported, '[^F]') then
    new, filtered = reported, #reported
elseif old ~= reported then
    local parts = {}
    for from = 1, #old, 25 do
        local o, n = string.sub(old, from, from + 24), string.sub(reported, from, from + 24)
        if o ~= n and string.find(n, '[^%.]') then
            local was, is = {string.byte(o, 1, -1)}, {string.byte(n, 1, -1)}
            for i = 1, #was do
                local a, z, lost = was[i], is[i], 0
                if z == 71 then z, lost = 70, 1 end  -- G
                if z ~= 46 and z ~= a then
                    if a ~= 78 and a ~= 68 then  -- neither N nor D: final
                        differs = true
                    else
                        if a == 68 then downloaded = downloaded - 1 end
                        if z == 68 then
                            downloaded = downloaded + 1
                        elseif z == 70 then
                            filtered = filtered + 1
                            lost_gain_maps = lost_gain_maps + lost
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
    for code, count in pairs(reasons) do redis.call('HINCRBY', key .. REASONS, string.char(code), count) end
    local kept, room = {}, MOST_KEPT - redis.call('HLEN', key .. FAILURES)
    for i = 8, #ARGV, 2 do
        if #kept < 2 * room and #ARGV[i + 1] <= 512 and moved[tonumber(ARGV[i])] then
            kept[#kept + 1] = ARGV[i]
            kept[#kept + 1] = ARGV[i + 1]
        end
    end
    if #kept > 0 then redis.call('HSET', key .. FAILURES, unpack(kept)) end
end
if lost_gain_maps > 0 then redis.call('HINCRBY', key, 'lost.gain.maps', lost_gain_maps) end
local bytes_in, bytes_out = string.match(holder, ' (%d+) (%d+) ?%l*$')
local totals = {'photos.filtered', filtered, 'photos.failed', failed, 'photos.cancelled', cancelled,
    'bytes.in', ARGV[6] - bytes_in, 'bytes.out', ARGV[7] - bytes_out}
--#include add_totals.lua
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
    -- A photo that was cancelled individually after the worker's last report has no manifest line. The worker sees this from the
    -- codes in the reply, writes the line and reports again.
    local at = string.find(old, 'C', 1, true)
    while at do
        if string.find(reported, '^[%.ND]', at) then ended, differs = false, true end
        at = string.find(old, 'C', at + 1, true)
    end
end
if ended then
    redis.call('HDEL', key .. EXECUTING, operation)
    redis.call('ZREM', KEY_LEASES, id .. '/' .. operation)
    redis.call('HDEL', key .. LEASE_EXPIRIES, operation)
    redis.call('HDEL', key .. RETRIES, operation)
    local kept = tonumber(b[14])
    if string.find(new, '[FAILURE_CODES]') and kept < MOST_KEPT then
        changes[#changes + 1] = 'operations.kept'
        changes[#changes + 1] = kept + 1
    else
        redis.call('HDEL', key .. OPERATIONS, operation)
    end
    local n = #changes
    changes[n + 1], changes[n + 2], changes[n + 3], changes[n + 4] = 'executing', b[7] - 1, 'operations.ended', b[5] + 1
else
    redis.call('HSET', key .. EXECUTING, operation, mine .. bytes_in .. ' ' .. bytes_out .. (string.find(reported, '[^%.]') and '' or ' begun'))
    if filtered + failed + cancelled > 0 and (tonumber(redis.call('HGET', key .. LEASE_EXPIRIES, operation)) or 0) > 2 then
        redis.call('HSET', key .. LEASE_EXPIRIES, operation, 2)
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
