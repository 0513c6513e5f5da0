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
--     [8...] photo index and JSON of each failure. The number of stored failures per batch is limited (see most_kept.lua), and a JSON
--     of more than 512 bytes is not stored
-- {'OK', ended, codes, version}: `ended` is 1 if the operation has ended. `codes` are the state codes if a final code differs
--     from the reported code, else ''. `version` is the number of the last change of a control
-- {'GONE'} there is no such batch
-- {'LOST'} the operation is queued again, or another worker holds it
-- {'ENDED', codes} the operation has ended
-- {'CANCELLED', codes} the batch is cancelled, and nothing was changed; `codes` has C in place of N and D
--#include prelude.lua
--#include add_totals.lua
--#include is_valid_batch.lua
local worker, token, id, operation, reported, claim_bytes_in, claim_bytes_out = unpack(ARGV, 1, 7)
operation = tonumber(operation)
local key = KEY_BATCH .. id
local state, size, photos, operations, operations_ended, sealed, executing, count_downloaded, count_filtered, count_failed,
    count_cancelled, count_bytes_in, count_bytes_out, operations_kept, batch_cancelled, output = unpack(
    redis.call('HMGET', key, 'state', 'size', 'photos', 'operations', 'operations.ended', 'sealed', 'executing', 'count.downloaded',
        'count.filtered', 'count.failed', 'count.cancelled', 'bytes.in', 'bytes.out', 'operations.kept', 'flag.cancelled', 'output'))
local is_valid = is_valid_batch(size, photos, operations, operations_ended, sealed, executing, count_downloaded, count_filtered,
    count_failed, count_cancelled, count_bytes_in, count_bytes_out, operations_kept)
if not state or not is_valid then return {'GONE'} end
size, photos, operations = tonumber(size), tonumber(photos), tonumber(operations)
local first = (operation - 1) * size
local old = redis.call('GETRANGE', key .. STATES, first, math.min(first + size, photos) - 1)
local holder = redis.call('HGET', key .. EXECUTING, operation)
local mine = worker .. ' ' .. token .. ' '
if batch_cancelled == '1' and operation <= operations and (not holder or string.sub(holder, 1, #mine) == mine) then
    return {'CANCELLED', (string.gsub(old, '[ND]', 'C'))}
end
if not holder or string.sub(holder, 1, #mine) ~= mine then
    if holder or operation > operations or redis.call('ZSCORE', key .. QUEUE, operation) then return {'LOST'} end
    return {'ENDED', old}
end
if #reported ~= #old or string.find(reported, '[^FAILURE_CODES%.NDFGC]') then
    return redis.error_reply('ERR a report of ' .. #reported .. ' codes "' .. reported .. '" for an operation of ' .. #old .. ' photos')
end

local UNCHANGED, N, D, F, G, C = string.byte('.NDFGC', 1, -1)
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
                local code, new_code, lost = was[i], is[i], 0
                if new_code == G then new_code, lost = F, 1 end
                if new_code ~= UNCHANGED and new_code ~= code then
                    if code ~= N and code ~= D then  -- final
                        differs = true
                    else
                        if code == D then downloaded = downloaded - 1 end
                        if new_code == D then
                            downloaded = downloaded + 1
                        elseif new_code == F then
                            filtered = filtered + 1
                            lost_gain_maps = lost_gain_maps + lost
                        elseif new_code == C then
                            cancelled = cancelled + 1
                        elseif new_code ~= N then
                            failed = failed + 1
                            reasons[new_code] = (reasons[new_code] or 0) + 1
                            moved[first + from + i - 2] = true
                        end
                        was[i] = new_code
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
local changes = {}  -- fields and values of the batch's hash
if downloaded ~= 0 or filtered > 0 or failed > 0 or cancelled > 0 then
    changes = {'count.downloaded', count_downloaded + downloaded, 'count.filtered', count_filtered + filtered,
        'count.failed', count_failed + failed, 'count.cancelled', count_cancelled + cancelled}
end
if failed > 0 then
    --#include most_kept.lua
    for code, count in pairs(reasons) do redis.call('HINCRBY', key .. REASONS, string.char(code), count) end
    local kept, room = {}, most_kept() - redis.call('HLEN', key .. FAILURES)
    for i = 8, #ARGV, 2 do
        local index, json = ARGV[i], ARGV[i + 1]
        if #kept < 2 * room and #json <= 512 and moved[tonumber(index)] then
            kept[#kept + 1] = index
            kept[#kept + 1] = json
        end
    end
    if #kept > 0 then redis.call('HSET', key .. FAILURES, unpack(kept)) end
end
if lost_gain_maps > 0 then redis.call('HINCRBY', key, 'lost.gain.maps', lost_gain_maps) end
local bytes_in, bytes_out = string.match(holder, ' (%d+) (%d+) ?%l*$')
add_totals({'photos.filtered', filtered, 'photos.failed', failed, 'photos.cancelled', cancelled,
    'bytes.in', claim_bytes_in - bytes_in, 'bytes.out', claim_bytes_out - bytes_out})
if tonumber(claim_bytes_in) > tonumber(bytes_in) then
    changes[#changes + 1] = 'bytes.in'
    changes[#changes + 1] = string.format('%.0f', count_bytes_in + claim_bytes_in - bytes_in)
    bytes_in = claim_bytes_in
end
if tonumber(claim_bytes_out) > tonumber(bytes_out) then
    changes[#changes + 1] = 'bytes.out'
    changes[#changes + 1] = string.format('%.0f', count_bytes_out + claim_bytes_out - bytes_out)
    bytes_out = claim_bytes_out
end

local ended = not string.find(new, '[ND]')
if ended and output ~= '' then
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
    local kept = tonumber(operations_kept)
    local is_kept = false  -- whether the entry is kept for a retry
    if string.find(new, '[FAILURE_CODES]') then
        --#include most_kept.lua
        is_kept = kept < most_kept()
    end
    if is_kept then
        changes[#changes + 1] = 'operations.kept'
        changes[#changes + 1] = kept + 1
    else
        redis.call('HDEL', key .. OPERATIONS, operation)
    end
    local n = #changes
    changes[n + 1], changes[n + 2], changes[n + 3], changes[n + 4] = 'executing', executing - 1, 'operations.ended', operations_ended + 1
else
    redis.call('HSET', key .. EXECUTING, operation, mine .. bytes_in .. ' ' .. bytes_out .. (string.find(reported, '[^%.]') and '' or ' begun'))
    if filtered + failed + cancelled > 0 and (tonumber(redis.call('HGET', key .. LEASE_EXPIRIES, operation)) or 0) > 2 then
        redis.call('HSET', key .. LEASE_EXPIRIES, operation, 2)
    end
end
if #changes > 0 then redis.call('HSET', key, unpack(changes)) end
if ended then
    --#include publish_event.lua
    --#include server_time.lua
    local now = server_time()
    publish_event('ended', id, now, '"operation":' .. operation)
    if sealed == '1' and operations_ended + 1 == operations then
        --#include finish_batch.lua
        finish_batch(id, now)
    end
end
return {'OK', ended and 1 or 0, differs and new or '', tonumber(redis.call('HGET', KEY_CONTROL, 'version') or 0)}
