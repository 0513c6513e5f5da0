#!lua
-- Queues the failed photos of ended operations again if Redis still has the entries of these operations. Each call does one
-- bounded step.
-- ROLES coordinator
-- KEYS[1] the prefix of every key, `{<namespace>}:`
-- ARGV[1] batch id  [2] [3] first and last operation to look at  [4] state codes and ranges of state codes (`a-c`) of the
--     reasons, '' for all
--     [5] '', or, to take the output folder back from another batch, the number in the folder's holder file (0: none)
-- {'OK', photos, not_kept, next}: `photos` became new again; `not_kept` failed photos stay failed, because their entries are
--     not kept; `next` is the first operation of the next step (0: none)
-- {'OUTPUT', batch id} that batch has taken the output folder; nothing was written
-- {'GONE'} there is no such batch
-- {'CANCELLED'} the batch is cancelled
-- {'BUSY'} the dependents of the batch are being released: try again
--#include prelude.lua
--#include ready_sync.lua
--#include reopen_batch.lua
--#include reset_notify_throttle.lua
--#include retake_output.lua
--#include server_time.lua
local id, operation, last, reason_codes, seen = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4], ARGV[5]
local key = KEY_BATCH .. id
local state, cancelled, size, photos, fed, ended, kept, failed = unpack(
    redis.call('HMGET', key, 'state', 'flag.cancelled', 'size', 'photos', 'operations', 'operations.ended', 'operations.kept', 'count.failed'))
if not state then return {'GONE'} end
if cancelled == '1' then return {'CANCELLED'} end
if redis.call('ZSCORE', KEY_RELEASES, id) then return {'BUSY'} end
local now = server_time()
local holder = retake_output(id, now, tonumber(seen) or 0, seen ~= '')
if holder then return {'OUTPUT', holder} end
size, photos = tonumber(size), tonumber(photos)
local wanted = reason_codes == '' and '[FAILURE_CODES]' or '[' .. reason_codes .. ']'
last = math.min(last, tonumber(fed))

local retried, not_kept, operations, codes_left, looked, reasons, forgotten = 0, 0, 0, 1000, 0, {}, {}
while operation <= last do
    -- Looks for failed photos in 10,000 state codes at a time.
    local first = (operation - 1) * size
    local text = redis.call('GETRANGE', key .. STATES, first, math.min(first + 10000, last * size, photos) - 1)
    local at = string.find(text, wanted)
    looked = looked + (at or #text)
    if not at then
        operation = operation + math.max(1, math.floor(#text / size))
    else
        operation = operation + math.floor((at - 1) / size)
        first = (operation - 1) * size
        local old = redis.call('GETRANGE', key .. STATES, first, math.min(first + size, photos) - 1)
        if #old > codes_left and codes_left < 1000 or operations == 100 then break end
        codes_left = codes_left - #old
        operations = operations + 1
        if not redis.call('ZSCORE', key .. QUEUE, operation) and redis.call('HEXISTS', key .. EXECUTING, operation) == 0 then
            local new, count = string.gsub(old, wanted, 'N')
            if redis.call('HEXISTS', key .. OPERATIONS, operation) == 0 then
                not_kept = not_kept + count
            else
                at = 0
                while true do
                    at = string.find(old, wanted, at + 1)
                    if not at then break end
                    local code = string.sub(old, at, at)
                    reasons[code] = (reasons[code] or 0) + 1
                    forgotten[#forgotten + 1] = string.format('%.0f', first + at - 1)
                end
                redis.call('SETRANGE', key .. STATES, first, new)
                redis.call('ZADD', key .. QUEUE, operation, operation)
                retried = retried + count
                ended, kept = ended - 1, kept - 1
            end
        end
        operation = operation + 1
    end
    if looked >= 100000 then break end  -- about 2 ms
end
if retried > 0 then
    for code, count in pairs(reasons) do
        if redis.call('HINCRBY', key .. REASONS, code, -count) == 0 then redis.call('HDEL', key .. REASONS, code) end
    end
    redis.call('HDEL', key .. FAILURES, unpack(forgotten))
    redis.call('HSET', key, 'operations.ended', ended, 'operations.kept', kept, 'count.failed', failed - retried)
    if state == 'finished' then reopen_batch(id, now) end
    reset_notify_throttle(key)
    ready_sync(id, now)
end
return {'OK', retried, not_kept, operation <= last and operation or 0}
