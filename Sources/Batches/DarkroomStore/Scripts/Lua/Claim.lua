#!lua flags=allow-oom
-- Claims operations for a worker: highest priority first, and the batches of the same priority in turn. A claim takes operations
-- of at most 100 batches.
-- ROLES worker
-- KEYS[1] the prefix of every key, `{<namespace>}:`
-- ARGV[1] worker id  [2] number of this claim  [3] maximum number of operations (up to 16)  [4] maximum number of photos (up to
--     4,000; at least one operation is claimed)  [5] rank of the lowest priority to claim (0 veryLow ... 4 veryHigh)  [6] `next`
--     of the previous claim, '' to begin with the first ready batch  [7] '' to claim from all batches, or the id of a batch: only
--     operations in the focus of this batch are claimed
--     [8] '1': the set of batches that the worker refuses is emptied first
--     [9...] number of batches that the worker refuses from now on (up to 1,000), their ids; number of batches that it no longer
--     refuses (up to 1,000), their ids; number of further batches that only this claim skips (up to 1,000), their ids; then the operations
--     that the worker holds (see renew_leases.lua)
-- {'OLD'} a later claim was answered before this one; nothing was done
-- {'OK', token, lost, next, version, cluster, turn, refusals, again, batch, ...}
--     token: the fencing token of the claimed operations
--     lost: see renew_leases.lua
--     next: the position at which the next claim continues, '' if this claim looked at all ready batches
--     version, cluster: see cluster_controls.lua
--     turn: a counter that grows whenever a batch enters a ready queue
--     refusals: the number of batches that the worker refuses
--     again: see notify_idle.lua
--     batch: a list of its id, its controls (see batch_controls.lua), and for each claimed operation: number, state codes,
--     lease expiries, entry, retries. `retries` is '', or the facts about retries that an earlier worker stored when it released the
--     operation: the ms since the release, a space, and the text that was passed to Release.lua
--     If a claim number is repeated, the reply contains the same operations, except those that the worker no longer holds.
--#include prelude.lua
--#include advance_clocks.lua
--#include batch_controls.lua
--#include batch_fields.lua
--#include cluster_controls.lua
--#include is_valid_batch.lua
--#include maintain.lua
--#include publish_event.lua
--#include renew_leases.lua
local worker, claim_number, most_operations, most_photos, lowest_rank, from, focused, forgets_refusals = unpack(ARGV, 1, 8)
claim_number = tonumber(claim_number)
local worker_key = KEY_WORKER .. worker
local refused_key = worker_key .. REFUSED

-- Stores which batches the worker refuses. Returns their number, the set of batches that only this claim skips, and the position in ARGV of
-- the operations that the worker holds.
local function store_refusals()
    if forgets_refusals == '1' then redis.call('UNLINK', refused_key) end
    local at, skipped = 9, {}
    local last = at + ARGV[at]
    if last > at then redis.call('SADD', refused_key, unpack(ARGV, at + 1, last)) end
    at = last + 1
    last = at + ARGV[at]
    if last > at then redis.call('SREM', refused_key, unpack(ARGV, at + 1, last)) end
    at = last + 1
    last = at + ARGV[at]
    for i = at + 1, last do skipped[ARGV[i]] = true end
    return redis.call('SCARD', refused_key), skipped, last + 1
end

-- For a repeated claim number: the operations that the first call with this number claimed, except those that the worker no longer holds.
-- `answer` consists of the token of that call, then the batch id and the number of each operation.
local function repeated_operations(token, answer)
    local words, claimed = string.gmatch(answer, '%S+'), {}
    words()
    local mine = worker .. ' ' .. string.format('%.0f', token) .. ' '
    for id in words do
        local key, number = KEY_BATCH .. id, words() or ''
        local state, size, photos = batch_fields(key, 'state', 'size', 'photos')
        local holder = state and is_valid_batch(size, photos) and redis.call('HGET', key .. EXECUTING, number)
        if holder and string.sub(holder, 1, #mine) == mine then
            claimed[#claimed + 1] = {id = id, key = key, size = tonumber(size), photos = tonumber(photos), numbers = {tonumber(number)}}
        end
    end
    return claimed
end

-- A page of a ready queue, in the order of the turns: up to 100 batches that follow the turn `after`, as `id, turn, ...`. If the claim is
-- for the focus of one batch, the page contains only this batch.
local function ready_page(ready_key, after)
    if focused == '' then return redis.call('ZRANGEBYSCORE', ready_key, after, '+inf', 'WITHSCORES', 'LIMIT', 0, 100) end
    local turn = redis.call('ZSCORE', ready_key, focused)
    return turn and {focused, turn} or {}
end

-- The ids and turns of the batches of a page that the worker neither refuses nor skips.
local function open_batches(page, refusals, skipped)
    local refused, ids, turns = {}, {}, {}
    if refusals > 0 and #page > 0 then
        local all = {}
        for i = 1, #page, 2 do all[#all + 1] = page[i] end
        refused = redis.call('SMISMEMBER', refused_key, unpack(all))
    end
    for i = 1, #page, 2 do
        local id, turn = page[i], page[i + 1]
        if refused[(i + 1) / 2] ~= 1 and not skipped[id] then
            ids[#ids + 1] = id
            turns[#turns + 1] = turn
        end
    end
    return ids, turns
end

-- Removes up to `count` operations from the queue of a batch, those in its focus first. Returns their numbers, as texts.
local function pop_operations(batch, count)
    local queue, taken = batch.key .. QUEUE, {}
    if batch.focus_from then
        taken = redis.call('ZRANGEBYSCORE', queue, batch.focus_from, batch.focus_to, 'LIMIT', 0, count)
        if #taken > 0 then redis.call('ZREM', queue, unpack(taken)) end
    end
    if #taken < count and focused == '' and not batch.only_focus then
        local rest = redis.call('ZRANGEBYSCORE', queue, CLAIMABLE, 'LIMIT', 0, count - #taken)
        if #rest > 0 then redis.call('ZREM', queue, unpack(rest)) end
        for i = 1, #rest do taken[#taken + 1] = rest[i] end
    end
    local popped = {}
    for i = 1, #taken do  -- drops members that are not operation numbers of the batch
        local number = taken[i]
        if string.find(number, '^[1-9]%d*$') and tonumber(number) <= math.min(batch.operations, MOST_PHOTOS) then popped[#popped + 1] = number end
    end
    return popped
end

-- Makes the worker the holder of the operations, with a lease for each. Appends the operations to the stored answer of the claim.
local function hold_operations(claim, batch, popped)
    local holder, deadline = worker .. ' ' .. claim.token_text .. ' 0 0', claim.lease_clock + batch.lease
    local id, holders, leases, answer = batch.id, {}, {}, claim.answer
    for i = 1, #popped do
        local number = popped[i]
        holders[#holders + 1] = number
        holders[#holders + 1] = holder
        leases[#leases + 1] = deadline
        leases[#leases + 1] = id .. '/' .. number
        answer[#answer + 1] = id
        answer[#answer + 1] = number
    end
    redis.call('HSET', batch.key .. EXECUTING, unpack(holders))
    redis.call('ZADD', KEY_LEASES, unpack(leases))
end

-- Counts the claimed operations as executing. When the first operations of a batch are claimed, the state of the batch
-- becomes executing.
local function count_executing(batch, popped, executing, now)
    if batch.state == 'ready' then
        --#include begin_pace.lua
        redis.call('HSET', batch.key, 'executing', executing, 'state', 'executing', 'started', now)
        begin_pace(batch.key, now)
        publish_event('isExecuting', batch.id, now, '"value":true')
    else
        redis.call('HSET', batch.key, 'executing', executing)
    end
    publish_event('claimed', batch.id, now, '"operations":[' .. table.concat(popped, ',') .. '],"worker":"' .. worker .. '"')
end

-- Moves the batch to the end of its ready queue, or removes it if no more of its operations can be claimed. If the batch stays in the ready
-- queue, returns the number of its operations that stay queued; else nil.
local function end_turn(batch, executing, ready_key)
    local queue = batch.key .. QUEUE
    local queued = batch.operations - batch.ended - executing
    if queued > 0 then queued = redis.call('ZCOUNT', queue, CLAIMABLE) end
    if queued == 0 or batch.only_focus and redis.call('ZCOUNT', queue, batch.focus_from, batch.focus_to) == 0 then
        redis.call('ZREM', ready_key, batch.id)
        return nil
    end
    redis.call('ZADD', ready_key, redis.call('HINCRBY', KEY_CONTROL, 'turn', 1), batch.id)
    return queued
end

-- Claims operations of one batch. The photos that the claim may still take are divided evenly among the batches of this page that have not
-- had their turn, but each batch gets at least one operation if one fits. The first batch always gets one operation.
local function claim_from(claim, id, ready_key, priority, batches_left)
    local key = KEY_BATCH .. id
    local state, size, photos, operations, ended, executing, lease, focus_first, focus_last, focus_only = batch_fields(key, 'state', 'size',
        'photos', 'operations', 'operations.ended', 'executing', 'lease', FOCUS_FIELDS)
    local is_valid = is_valid_batch(size, photos, operations, ended, executing, lease)
        and (not focus_first or is_valid_batch(size, photos, focus_first, focus_last))
    if not is_valid then return end
    size = tonumber(size)
    local share = math.floor(claim.photos_left / batches_left / size)
    if #claim.claimed == 0 then share = math.max(share, 1) elseif share == 0 and claim.photos_left >= size then share = 1 end
    local count = math.min(share, claim.operations_left)
    if count <= 0 then return end
    local batch = {id = id, key = key, state = state, size = size, photos = tonumber(photos), operations = operations, ended = ended,
        lease = lease, only_focus = focus_only == '1'}
    if focus_first then
        batch.focus_from, batch.focus_to = math.floor(focus_first / size) + 1, math.floor(focus_last / size) + 1
    end
    local popped = pop_operations(batch, count)
    if #popped == 0 then return end
    local numbers = {}
    for i = 1, #popped do numbers[i] = tonumber(popped[i]) end
    batch.numbers = numbers
    hold_operations(claim, batch, popped)
    executing = executing + #popped
    count_executing(batch, popped, executing, claim.now)
    local queued = end_turn(batch, executing, ready_key)
    if queued then
        claim.left = claim.left + queued
        claim.left_priority = claim.left_priority or priority
    end
    claim.claimed[#claim.claimed + 1] = batch
    claim.operations_left = claim.operations_left - #popped
    claim.photos_left = claim.photos_left - #popped * size
end

-- Claims from the open batches of one page of a ready queue, until the claim is full or has looked at 100 batches.
local function claim_from_page(claim, ids, turns, rank, ready_key, priority)
    for n = 1, #ids do
        claim.looked = claim.looked + 1
        claim_from(claim, ids[n], ready_key, priority, #ids - n + 1)
        if claim.operations_left == 0 or claim.photos_left <= 0 then
            claim.left = claim.left + #ids - n
            if n < #ids then claim.left_priority = claim.left_priority or priority end
            return
        end
        if claim.looked == 100 then
            claim.next_at = rank .. ':' .. turns[n]
            return
        end
    end
end

-- Claims from the ready queues, the highest priority first, starting at the position at which the previous claim ended.
local function claim_from_queues(claim, refusals, skipped)
    local priorities, read = {PRIORITIES}, 0
    local from_rank, from_turn = string.match(from, '^(%d):(.*)$')
    from_rank = tonumber(from_rank)
    for rank = from_rank or 4, tonumber(lowest_rank), -1 do
        local priority = priorities[rank + 1]
        local ready_key = KEY_READY .. priority
        local after = rank == from_rank and '(' .. from_turn or '-inf'
        while after and claim.next_at == '' and claim.operations_left > 0 and claim.photos_left > 0 do
            local page = ready_page(ready_key, after)
            local ids, turns = open_batches(page, refusals, skipped)
            read = read + #page / 2
            claim_from_page(claim, ids, turns, rank, ready_key, priority)
            local last_turn = page[#page]
            after = #page == 200 and '(' .. last_turn
            if after and claim.next_at == '' and read >= 1000 then claim.next_at = rank .. ':' .. last_turn end
        end
    end
end

-- Claims operations under a new token, and stores the answer for a repetition of this claim number.
local function new_operations(now, lease_clock, is_suspended, refusals, skipped, is_idle)
    local token = math.max(tonumber(redis.call('HGET', KEY_CONTROL, 'claims') or 0) + 1, now)
    redis.call('HSET', KEY_CONTROL, 'claims', token)
    local token_text = string.format('%.0f', token)
    -- `left`: operations that stay queued in the batches looked at; `left_priority`: the highest priority of these batches.
    local claim = {now = now, lease_clock = lease_clock, token_text = token_text, answer = {token_text}, claimed = {},
        operations_left = is_suspended and 0 or tonumber(most_operations), photos_left = tonumber(most_photos),
        looked = 0, next_at = '', left = 0, left_priority = nil}
    claim_from_queues(claim, refusals, skipped)
    -- If this worker was idle, other workers may also be idle: a change notice tells them about the operations left in the queues.
    if is_idle and #claim.claimed > 0 and claim.left > 0 then
        --#include notify_work.lua
        notify_work(now, claim.left_priority, claim.left)
    end
    redis.call('HSET', worker_key, 'claim.number', claim_number, 'claim.answer', table.concat(claim.answer, ' '))
    return token, claim.claimed, claim.next_at
end

-- The elements of the reply for the claimed operations of one batch.
local function batch_reply(batch, retention_clock)
    local key, size, numbers = batch.key, batch.size, batch.numbers
    local entries = redis.call('HMGET', key .. OPERATIONS, unpack(numbers))
    local lease_expiries = redis.call('HMGET', key .. LEASE_EXPIRIES, unpack(numbers))
    local retries = redis.call('HMGET', key .. RETRIES, unpack(numbers))
    local controls = batch_controls(key)
    local reply, cancelled = {batch.id, controls}, string.find(controls, 'c', 1, true)  -- cancelled after the first reply to this claim number
    local i = 1
    while i <= #numbers do
        local run = i  -- the last of several consecutive operations, whose state codes are read together
        while numbers[run + 1] == numbers[run] + 1 do run = run + 1 end
        local codes = redis.call('GETRANGE', key .. STATES, (numbers[i] - 1) * size, math.min(numbers[run] * size, batch.photos) - 1)
        if cancelled then codes = string.gsub(codes, '[ND]', 'C') end
        for j = i, run do
            reply[#reply + 1] = numbers[j]
            reply[#reply + 1] = string.sub(codes, (j - i) * size + 1, (j - i + 1) * size)
            local expiries = lease_expiries[j] or ''
            reply[#reply + 1] = string.find(expiries, '^%d+$') and math.min(tonumber(expiries), 1000000) or 0  -- a damaged number counts as 0
            reply[#reply + 1] = entries[j]
            local since, known = string.match(retries[j] or '', '^(%d+) (.*)$')
            reply[#reply + 1] = known and string.format('%.0f %s', math.max(0, retention_clock - since), known) or ''
        end
        i = run + 1
    end
    return reply
end

local last_number, last_answer = unpack(redis.call('HMGET', worker_key, 'claim.number', 'claim.answer'))
last_number = tonumber(last_number or '')
if last_number and claim_number < last_number then return {'OLD'} end

local now, lease_clock, retention_clock = advance_clocks()
local refusals, skipped, held_at = store_refusals()
local lost, still_held = renew_leases(worker, held_at, lease_clock)
maintain(worker, now, lease_clock, retention_clock)
local version, cluster = cluster_controls()
local is_suspended, is_idle = string.find(cluster, '^[sd]'), #still_held == 0

local token = claim_number == last_number and tonumber(string.match(last_answer or '', '^%S+') or '')
local claimed, next_at, again = nil, '', 0
if token then
    claimed = repeated_operations(token, last_answer)
else
    token, claimed, next_at = new_operations(now, lease_clock, is_suspended, refusals, skipped, is_idle)
end
-- Only a worker that skips no batch asks other workers for operations: it can run all operations that they release.
if is_idle and #claimed == 0 and not is_suspended and focused == '' and next_at == '' and refusals == 0 and not next(skipped) then
    --#include notify_idle.lua
    again = notify_idle(now)
end

local entered = tonumber(redis.call('HGET', KEY_CONTROL, 'entered') or 0)
local reply = {'OK', token, lost, next_at, version, cluster, entered, refusals, again}
for _, batch in ipairs(claimed) do reply[#reply + 1] = batch_reply(batch, retention_clock) end
return reply
