#!lua flags=allow-oom
-- Claims operations for a worker: highest priority first, and the batches of the same priority in turn. A claim takes operations
-- of at most 100 batches.
-- ROLES worker
-- KEYS[1] the prefix of every key, `{<namespace>}:`
-- ARGV[1] worker id  [2] number of this claim  [3] maximum number of operations (up to 16)  [4] maximum number of photos (up to
--     4,000; at least one operation is claimed)  [5] rank of the lowest priority to claim (0 veryLow ... 4 veryHigh)  [6] `next`
--     of the previous claim, '' to begin  [7] '' to claim from all batches, or the id of a batch: then only operations in its
--     focus are claimed
--     [8] '1': the set of batches that the worker refuses is emptied first
--     [9...] number of batches that the worker refuses from now on (1,000), their ids; number of batches that it no longer
--     refuses (1,000), their ids; number of batches that only this claim skips (1,000), their ids; then the operations that the
--     worker holds (see renew_leases.lua)
-- {'OLD'} a later claim was answered before this one; nothing was done
-- {'OK', token, lost, next, version, cluster, turn, refusals, again, batch, ...}
--     token: the fencing token of the claimed operations
--     lost: see renew_leases.lua
--     next: where the next claim continues, '' if this claim looked at all ready batches
--     version, cluster: see cluster_controls.lua
--     turn: a counter that grows whenever a batch enters a ready queue
--     refusals: the number of batches that the worker refuses
--     again: see notify_idle.lua
--     batch: a list of its id, its controls (see batch_controls.lua), and for each claimed operation: number, state codes,
--     lease expiries, entry, retries. `retries` is '', or what an earlier worker knew about retries when it released the
--     operation: the ms since then, a space, and the text that Release.lua was given
--     If a claim number is repeated, the reply contains the same operations, except those that the worker no longer holds.
--#include prelude.lua
local worker, claim = ARGV[1], tonumber(ARGV[2])
local worker_key = KEY_WORKER .. worker
local last = redis.call('HMGET', worker_key, 'claim.number', 'claim.answer')
local last_claim = tonumber(last[1] or '')
if last_claim and claim < last_claim then return {'OLD'} end
--#include read_batch.lua
--#include clocks.lua
local refused_key, left_out, at = worker_key .. REFUSED, {}, 9
if ARGV[8] == '1' then redis.call('UNLINK', refused_key) end
if ARGV[at] ~= '0' then redis.call('SADD', refused_key, unpack(ARGV, at + 1, at + ARGV[at])) end
at = at + 1 + ARGV[at]
if ARGV[at] ~= '0' then redis.call('SREM', refused_key, unpack(ARGV, at + 1, at + ARGV[at])) end
at = at + 1 + ARGV[at]
for i = at + 1, at + ARGV[at] do left_out[ARGV[i]] = true end
at = at + 1 + ARGV[at]
local refusals = redis.call('SCARD', refused_key)
--#include renew_leases.lua
--#include maintenance.lua
local version, cluster
--#include cluster_controls.lua
local suspended = string.find(cluster, '^[sd]')

-- For each batch with claimed operations: batch id, key of its hash, operation size, photos, operation numbers.
local claimed, token, next_at = {}, 0, ''
local last_token = claim == last_claim and tonumber(string.match(last[2] or '', '^%S+') or '')
if last_token then
    local words = string.gmatch(last[2], '%S+')
    words()
    token = last_token
    local mine = worker .. ' ' .. string.format('%.0f', token) .. ' '
    for id in words do
        local key, number = KEY_BATCH .. id, words() or ''
        local b, from, to, is_valid = fields(key, 'state', 'size', 'photos'), 2, 3, nil
--#include check_batch.lua
        local holder = b[1] and is_valid and redis.call('HGET', key .. EXECUTING, number)
        if holder and string.sub(holder, 1, #mine) == mine then
            claimed[#claimed + 1] = {id, key, tonumber(b[2]), tonumber(b[3]), {tonumber(number)}}
        end
    end
else
    token = math.max(tonumber(redis.call('HGET', KEY_CONTROL, 'claims') or 0) + 1, now)
    redis.call('HSET', KEY_CONTROL, 'claims', token)
    local token_text = string.format('%.0f', token)
    local answer = {token_text}
    local operations_left, photos_left = suspended and 0 or tonumber(ARGV[3]), tonumber(ARGV[4])
    -- The number of batches read from ready queues, and the number of these batches from which the worker may claim.
    local read, looked = 0, 0
    local focused, names = ARGV[7], {PRIORITIES}
    local from_rank, from_turn = string.match(ARGV[6], '^(%d):(.*)$')
    local left, left_priority = 0, nil  -- operations that stay queued in the batches looked at
    for rank = tonumber(from_rank or 4), tonumber(ARGV[5]), -1 do
        local ready_key = KEY_READY .. names[rank + 1]
        local after = '-inf'
        if from_turn and rank == tonumber(from_rank) then after = '(' .. from_turn end
        while after and next_at == '' and operations_left > 0 and photos_left > 0 do
            local page, ids, open = nil, {}, {}
            if focused == '' then
                page = redis.call('ZRANGEBYSCORE', ready_key, after, '+inf', 'WITHSCORES', 'LIMIT', 0, 100)
            else
                page = {focused, redis.call('ZSCORE', ready_key, focused) or nil}
                if not page[2] then page = {} end
            end
            for i = 1, #page, 2 do ids[#ids + 1] = page[i] end
            read = read + #ids
            local refused = refusals > 0 and #ids > 0 and redis.call('SMISMEMBER', refused_key, unpack(ids)) or {}
            for i = 1, #ids do
                if refused[i] ~= 1 and not left_out[ids[i]] then open[#open + 1] = i end
            end
            for n = 1, #open do
                local id = ids[open[n]]
                looked = looked + 1
                local key = KEY_BATCH .. id
                local b = fields(key, 'state', 'size', 'photos', 'operations', 'operations.ended', 'executing', 'lease', FOCUS_FIELDS)
                local from, to, is_valid, count = 2, b[8] and 9 or 7, nil, 0
--#include check_batch.lua
                local size = tonumber(b[2])
                if is_valid then
                    local share = math.floor(photos_left / (#open - n + 1) / size)
                    if #answer == 1 then share = math.max(share, 1) elseif share == 0 and photos_left >= size then share = 1 end
                    count = math.min(share, operations_left)
                end
                local taken, popped, focus_first, focus_last = {}, {}, nil, nil
                if count > 0 and b[8] then
                    focus_first, focus_last = math.floor(b[8] / size) + 1, math.floor(b[9] / size) + 1
                    taken = redis.call('ZRANGEBYSCORE', key .. QUEUE, focus_first, focus_last, 'LIMIT', 0, count)
                    if #taken > 0 then redis.call('ZREM', key .. QUEUE, unpack(taken)) end
                end
                if #taken < count and focused == '' and b[10] ~= '1' then
                    local rest = redis.call('ZRANGEBYSCORE', key .. QUEUE, CLAIMABLE, 'LIMIT', 0, count - #taken)
                    if #rest > 0 then redis.call('ZREM', key .. QUEUE, unpack(rest)) end
                    for j = 1, #rest do taken[#taken + 1] = rest[j] end
                end
                for _, number in ipairs(taken) do  -- drops members that are not operation numbers of the batch
                    if string.find(number, '^[1-9]%d*$') and tonumber(number) <= math.min(b[4], MOST_PHOTOS) then popped[#popped + 1] = number end
                end
                if #popped > 0 then
                    local numbers, holders, leases = {}, {}, {}
                    local holder, deadline = worker .. ' ' .. token_text .. ' 0 0', lease_clock + b[7]
                    for j = 1, #popped do
                        local number = popped[j]
                        numbers[#numbers + 1] = tonumber(number)
                        holders[#holders + 1] = number
                        holders[#holders + 1] = holder
                        leases[#leases + 1] = deadline
                        leases[#leases + 1] = id .. '/' .. number
                        answer[#answer + 1] = id
                        answer[#answer + 1] = number
                    end
                    redis.call('HSET', key .. EXECUTING, unpack(holders))
                    redis.call('ZADD', KEY_LEASES, unpack(leases))
                    local executing = b[6] + #numbers
                    if b[1] == 'ready' then
                        redis.call('HSET', key, 'executing', executing, 'state', 'executing', 'started', now)
--#include begin_pace.lua
                        redis.call('PUBLISH', CHANNEL_EVENTS, '{"event":"isExecuting",' .. TIME_AND_BATCH .. ',"value":true}')
                    else
                        redis.call('HSET', key, 'executing', executing)
                    end
                    redis.call('PUBLISH', CHANNEL_EVENTS, '{"event":"claimed",' .. TIME_AND_BATCH .. ',"operations":['
                        .. table.concat(popped, ',') .. '],"worker":"' .. worker .. '"}')
                    local queued = b[4] - b[5] - executing
                    if queued > 0 then queued = redis.call('ZCOUNT', key .. QUEUE, CLAIMABLE) end
                    if queued == 0 or b[10] == '1' and redis.call('ZCOUNT', key .. QUEUE, focus_first, focus_last) == 0 then
                        redis.call('ZREM', ready_key, id)
                    else
                        redis.call('ZADD', ready_key, redis.call('HINCRBY', KEY_CONTROL, 'turn', 1), id)
                        left = left + queued
                        left_priority = left_priority or names[rank + 1]
                    end
                    claimed[#claimed + 1] = {id, key, size, tonumber(b[3]), numbers}
                    operations_left = operations_left - #numbers
                    photos_left = photos_left - #numbers * size
                end
                if operations_left == 0 or photos_left <= 0 then
                    left = left + #open - n
                    if n < #open then left_priority = left_priority or names[rank + 1] end
                    break
                end
                if looked == 100 then
                    next_at = rank .. ':' .. page[2 * open[n]]
                    break
                end
            end
            after = #ids == 100 and '(' .. page[200]
            if after and next_at == '' and read >= 1000 then next_at = rank .. ':' .. page[200] end
        end
    end
    -- If this worker was idle, other workers may also be idle: a change notice tells them about the operations left in the queues.
    if #still_held == 0 and #claimed > 0 and left > 0 then
        local priority, operations = left_priority, left
--#include notify_work.lua
    end
    redis.call('HSET', worker_key, 'claim.number', claim, 'claim.answer', table.concat(answer, ' '))
end

local again = 0
-- Only a worker that skips no batch asks others for operations: it can run whatever they release.
if #still_held == 0 and #claimed == 0 and not suspended and ARGV[7] == '' and next_at == '' and refusals == 0 and not next(left_out) then
--#include notify_idle.lua
end

local reply = {'OK', token, lost, next_at, version, cluster, tonumber(redis.call('HGET', KEY_CONTROL, 'entered') or 0), refusals, again}
for _, h in ipairs(claimed) do
    local id, key, size, photos, numbers = h[1], h[2], h[3], h[4], h[5]
    local entries = redis.call('HMGET', key .. OPERATIONS, unpack(numbers))
    local lease_expiries = redis.call('HMGET', key .. LEASE_EXPIRIES, unpack(numbers))
    local retries = redis.call('HMGET', key .. RETRIES, unpack(numbers))
    local controls
--#include batch_controls.lua
    local batch, cancelled = {id, controls}, string.find(controls, 'c', 1, true)  -- cancelled after the first reply to this claim number
    local i = 1
    while i <= #numbers do
        local run = i  -- the last of several consecutive operations, whose state codes are read together
        while numbers[run + 1] == numbers[run] + 1 do run = run + 1 end
        local codes = redis.call('GETRANGE', key .. STATES, (numbers[i] - 1) * size, math.min(numbers[run] * size, photos) - 1)
        if cancelled then codes = string.gsub(codes, '[ND]', 'C') end
        for j = i, run do
            batch[#batch + 1] = numbers[j]
            batch[#batch + 1] = string.sub(codes, (j - i) * size + 1, (j - i + 1) * size)
            local expiries = lease_expiries[j] or ''
            batch[#batch + 1] = string.find(expiries, '^%d+$') and math.min(tonumber(expiries), 1000000) or 0  -- a damaged number counts as 0
            batch[#batch + 1] = entries[j]
            local since, known = string.match(retries[j] or '', '^(%d+) (.*)$')
            batch[#batch + 1] = known and string.format('%.0f %s', math.max(0, retention_clock - since), known) or ''
        end
        i = run + 1
    end
    reply[#reply + 1] = batch
end
return reply
