--#include is_valid_batch.lua
--#include publish_event.lua

--#define REQUEUE_FIELDS 'size', 'photos', 'count.downloaded', 'executing', 'operations', 'operations.ended', 'sealed', 'operations.kept', 'originals', 'state', 'flag.cancelled', 'output'

-- The fields of a batch's hash that requeue_operation needs, by name. Expects the values of REQUEUE_FIELDS.
local function requeue_facts(size, photos, downloaded, executing, operations, ended, sealed, kept, originals, state, cancelled, output)
    return {size = size, photos = photos, downloaded = downloaded, executing = executing, operations = operations, ended = ended,
        sealed = sealed, kept = kept, originals = originals, state = state, is_cancelled = cancelled == '1', output = output}
end

-- Whether the batch of `facts` exists and is not damaged.
local function can_requeue(facts)
    return facts.state and is_valid_batch(facts.size, facts.photos, facts.downloaded, facts.executing, facts.operations, facts.ended,
        facts.sealed, facts.kept)
end

-- Queues the executing `operation` of the batch `id` again. Its downloaded photos become new, unless their originals are kept. If the
-- batch is cancelled, or all photos are final and no manifest line can be missing, the operation ends instead, and the step returns true.
-- The caller removes the lease. If `deferral` is not 0, the operation is deferred for this number of ms.
--
-- `lease_expired` is false if the worker released the operation. The first two expired leases are always counted. Further expired leases
-- are counted only if the worker had reported the beginning of a crash probe and not its end, so that crashes caused by other operations
-- are not counted.
--
-- If the batch is cancelled, no later claim removes the stale temporary files of a lost worker. Therefore the operation is added to
-- `stale.files`, which has at most 1,000 members, and other workers remove the files.
--
-- `is_silent`: see ready_add.lua.
local function requeue_operation(id, operation, facts, now, retention_clock, lease_expired, deferral, is_silent)
    local key = KEY_BATCH .. id
    local first = (operation - 1) * facts.size
    local codes = redis.call('GETRANGE', key .. STATES, first, math.min(first + facts.size, tonumber(facts.photos)) - 1)
    local reset, cancelled = 0, facts.is_cancelled
    if not cancelled and (not facts.originals or facts.originals == '') then
        codes, reset = string.gsub(codes, 'D', 'N')
        if reset > 0 then redis.call('SETRANGE', key .. STATES, first, codes) end
    end
    local holder = lease_expired and redis.call('HGET', key .. EXECUTING, operation)
    redis.call('HDEL', key .. EXECUTING, operation)
    -- A photo that was cancelled individually may have no manifest line yet: the next worker writes the line.
    local ended = cancelled or not string.find(codes, facts.output == '' and '[ND]' or '[NDC]')
    local left_under = cancelled and holder and (facts.output or '') ~= '' and string.match(holder, '^%S+ (%d+) ')
    if left_under then
        redis.call('ZADD', KEY_STALE_FILES, now, id .. ' ' .. operation .. ' ' .. left_under .. ' 1')
        redis.call('ZREMRANGEBYRANK', KEY_STALE_FILES, 0, -1001)
    end
    if ended then
        --#include most_kept.lua
        redis.call('HDEL', key .. LEASE_EXPIRIES, operation)
        redis.call('HDEL', key .. RETRIES, operation)
        local kept = tonumber(facts.kept)
        if not cancelled and string.find(codes, '[FAILURE_CODES]') and kept < most_kept() then
            kept = kept + 1
        else
            redis.call('HDEL', key .. OPERATIONS, operation)
        end
        redis.call('HSET', key, 'count.downloaded', facts.downloaded - reset, 'executing', facts.executing - 1,
            'operations.ended', facts.ended + 1, 'operations.kept', kept)
        publish_event('ended', id, now, '"operation":' .. operation)
        if cancelled and facts.executing == '1'
            or not cancelled and facts.sealed == '1' and facts.ended + 1 == tonumber(facts.operations) then
            --#include finish_batch.lua
            finish_batch(id, now)
        end
        return true
    end
    redis.call('HSET', key, 'count.downloaded', facts.downloaded - reset, 'executing', facts.executing - 1)
    if deferral > 0 then
        redis.call('ZADD', key .. QUEUE, DEFERRED + retention_clock + deferral, operation)
        redis.call('ZADD', KEY_DEFERRED, 'LT', retention_clock + deferral, id)
    else
        redis.call('ZADD', key .. QUEUE, operation, operation)
    end
    if lease_expired then
        redis.call('HDEL', key .. RETRIES, operation)  -- the lost worker may have learned more
        local lease_expiries = redis.call('HGET', key .. LEASE_EXPIRIES, operation) or ''
        lease_expiries = string.find(lease_expiries, '^%d+$') and math.min(tonumber(lease_expiries), 1000000) or 0  -- a damaged number counts as 0
        if lease_expiries < 2 or string.find(holder, ' begun$') then
            lease_expiries = lease_expiries + 1
            redis.call('HSET', key .. LEASE_EXPIRIES, operation, lease_expiries)
        end
        publish_event('recovered', id, now, '"operation":' .. operation .. ',"leaseExpiries":' .. lease_expiries)
    end
    if deferral == 0 then  -- the batch may have had no operation that could be claimed
        --#include ready_sync.lua
        ready_sync(id, now, is_silent)
    end
    return false
end
