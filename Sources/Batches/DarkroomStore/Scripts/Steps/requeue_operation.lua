-- Included. Queues the executing `operation` of the batch `id` again. Its downloaded photos become new, unless their originals
-- are kept. If the batch is cancelled, or all photos are final and no manifest line can be missing, the operation ends instead.
-- The caller removes the lease. If `deferral` is not 0, the operation is deferred for this number of ms.
--
-- `lease_expired` is false if the worker released the operation. The first two expired leases are always counted. Further
-- expired leases are counted only if the worker had reported the beginning of a crash probe and not its end, so that crashes
-- caused by other operations are not counted.
--
-- If the batch is cancelled, no later claim removes the stale temporary files of a lost worker. Therefore the operation is added
-- to `stale.files`, which has at most 1,000 members, and other workers remove the files.
--
-- Expects `prefix`, `now`, `retention_clock`, `key`, and `b` with REQUEUE_FIELDS of the batch's hash. Sets `ended`.
local first = (operation - 1) * b[1]
local codes = redis.call('GETRANGE', key .. STATES, first, math.min(first + b[1], tonumber(b[2])) - 1)
local reset, cancelled = 0, b[11] == '1'
if not cancelled and (not b[9] or b[9] == '') then
    codes, reset = string.gsub(codes, 'D', 'N')
    if reset > 0 then redis.call('SETRANGE', key .. STATES, first, codes) end
end
local holder = lease_expired and redis.call('HGET', key .. EXECUTING, operation)
redis.call('HDEL', key .. EXECUTING, operation)
-- A photo that was cancelled individually may have no manifest line yet: the next worker writes the line.
ended = cancelled or not string.find(codes, b[13] == '' and '[ND]' or '[NDC]')
local left_under = cancelled and holder and (b[13] or '') ~= '' and string.match(holder, '^%S+ (%d+) ')
if left_under then
    redis.call('ZADD', KEY_STALE_FILES, now, id .. ' ' .. operation .. ' ' .. left_under .. ' 1')
    redis.call('ZREMRANGEBYRANK', KEY_STALE_FILES, 0, -1001)
end
if ended then
    redis.call('HDEL', key .. LEASE_EXPIRIES, operation)
    redis.call('HDEL', key .. RETRIES, operation)
    local kept = tonumber(b[8])
    if not cancelled and string.find(codes, '[FAILURE_CODES]') and kept < MOST_KEPT then
        kept = kept + 1
    else
        redis.call('HDEL', key .. OPERATIONS, operation)
    end
    redis.call('HSET', key, 'count.downloaded', b[3] - reset, 'executing', b[4] - 1, 'operations.ended', b[6] + 1, 'operations.kept', kept)
    redis.call('PUBLISH', CHANNEL_EVENTS, '{"event":"ended",' .. TIME_AND_BATCH .. ',"operation":' .. operation .. '}')
    if cancelled and b[4] == '1' or not cancelled and b[7] == '1' and b[6] + 1 == tonumber(b[5]) then
--#include finish_batch.lua
    end
else
    redis.call('HSET', key, 'count.downloaded', b[3] - reset, 'executing', b[4] - 1)
    if deferral > 0 then
        redis.call('ZADD', key .. QUEUE, DEFERRED + retention_clock + deferral, operation)
        redis.call('ZADD', KEY_DEFERRED, 'LT', retention_clock + deferral, id)
    else
        redis.call('ZADD', key .. QUEUE, operation, operation)
    end
    if lease_expired then
        redis.call('HDEL', key .. RETRIES, operation)  -- the lost worker may know more
        local lease_expiries = redis.call('HGET', key .. LEASE_EXPIRIES, operation) or ''
        lease_expiries = string.find(lease_expiries, '^%d+$') and math.min(tonumber(lease_expiries), 1000000) or 0  -- a damaged number counts as 0
        if lease_expiries < 2 or string.find(holder, ' begun$') then
            lease_expiries = lease_expiries + 1
            redis.call('HSET', key .. LEASE_EXPIRIES, operation, lease_expiries)
        end
        redis.call('PUBLISH', CHANNEL_EVENTS, '{"event":"recovered",' .. TIME_AND_BATCH .. ',"operation":' .. operation .. ',"leaseExpiries":' .. lease_expiries .. '}')
    end
    if deferral == 0 then  -- the batch may have had no operation that could be claimed
--#include ready_sync.lua
    end
end
