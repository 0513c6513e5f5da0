#!lua flags=allow-oom
-- Checks batches, and repairs a batch whose data in Redis contradict each other, for example because Redis has loaded a torn
-- append-only file. The state codes decide: the script corrects the counters, the reasons, the queue, the leases and the state of
-- the batch. Each call does one bounded step.
--
-- After each start of the Redis server, the calls check all batches completely, except finished batches whose counters agree. At
-- other times, each call compares the counters of the next 100 batches. A batch whose counters do not agree is checked completely.
-- A complete check copies the state codes when it begins, counts the codes of the copy, and adds the differences to the counters. Therefore
-- workers may change states and counters during the check. Operations with a lease are left to their workers.
-- The script also runs if Redis has no memory, to remove its copy. It copies only if there is memory for the copy; otherwise it tries again
-- after a minute.
-- ROLES worker, coordinator
-- KEYS[1] the prefix of every key, `{<namespace>}:`
-- ARGV[1] id of a batch that must be checked, '' for none
--     [2] state code, [3] failure text for the photos of an operation whose entry is missing: no worker can run the operation
-- {'OK', more, batch, repairs, skipped, error}
--     more: 1 if a check is in progress: call again
--     batch: the id of the batch whose check this call has completed, or ''
--     repairs: the number of corrections of this batch
--     skipped, error: the id of the batch whose check this call has ended because of an error of the script, and the error; '' without
--     an error. The cause of such an error is that another program has changed data that only this script writes.
--#include prelude.lua
--#include add_totals.lua
--#include are_sums_sound.lua
--#include batch_fields.lua
--#include begin_pace.lua
--#include finish_batch.lua
--#include is_valid_batch.lua
--#include mark_ready.lua
--#include most_kept.lua
--#include ready_sync.lua
--#include reopen_batch.lua
--#include schedule_deletion.lua
--#include server_time.lua
local wanted_id, lost_code, lost_text = unpack(ARGV)
local now = server_time()

-- Up to 100 batches that follow a batch in the order of submission, as id, time, ... The batch need not exist any longer. Without a time,
-- the first batches.
local function following(id, time)
    local rank = 0
    if id and tonumber(time or '') then
        rank = redis.call('ZRANK', KEY_BATCHES, id)
        rank = rank and rank + 1 or redis.call('ZCOUNT', KEY_BATCHES, '-inf', '(' .. tonumber(time))
    end
    return redis.call('ZRANGE', KEY_BATCHES, rank, rank + 99, 'WITHSCORES')
end

-- Ends the check of the current batch, but not the pass over all batches.
local function leave_batch()
    local pass, pass_time = unpack(redis.call('HMGET', KEY_REPAIR, 'pass', 'pass.time'))
    redis.call('UNLINK', KEY_REPAIR, KEY_REPAIR_STATES)
    if pass then redis.call('HSET', KEY_REPAIR, 'pass', pass, 'pass.time', pass_time) end
end

local function is_integer(text) return text and string.find(text, '^%-?%d+$') and #text <= 15 end

-- Whether Redis has memory for twice this number of bytes.
local function has_room(bytes)
    local memory = redis.call('INFO', 'memory')
    local used, most = tonumber(string.match(memory, 'used_memory:(%d+)')), tonumber(string.match(memory, 'maxmemory:(%d+)'))
    return not used or not most or most == 0 or used + 2 * bytes <= most
end

-- Notes that a batch must be checked later.
local function postpone(id)
    local ids = redis.call('HGET', KEY_REPAIR_ROUND, 'postponed') or ''
    if #ids < 10000 then redis.call('HSET', KEY_REPAIR_ROUND, 'postponed', ids .. id .. ' ', 'postponed.time', now) end
end

-- Moves the postponed batches to the set of wanted batches, a minute after the last postponement.
local function resume_postponed()
    local postponed, time = unpack(redis.call('HMGET', KEY_REPAIR_ROUND, 'postponed', 'postponed.time'))
    if not postponed or now - (tonumber(time) or 0) < 60000 then return end
    redis.call('HDEL', KEY_REPAIR_ROUND, 'postponed', 'postponed.time')
    for id in string.gmatch(postponed, '%S+') do redis.call('SADD', KEY_REPAIR_WANTED, id) end
end

-- Begins the complete check of a batch. A batch cannot be repaired if its key has another type, if its size is unreadable, or if it has
-- more operations than photos: the check of such a batch could take days.
local function begin(id)
    local key = KEY_BATCH .. id
    local size, photos, operations, state = batch_fields(key, 'size', 'photos', 'operations', 'state')
    -- `state` is nil if the key of the batch has another type, and false if the batch has no state.
    if state == nil then return end
    if not state then
        -- A torn append-only file may contain only the first of the commands that forget the batch.
        if redis.call('ZSCORE', KEY_BATCHES, id) then redis.call('ZADD', KEY_EXPIRING, 0, id) end
        return
    end
    if not is_valid_batch(size, photos, operations) or tonumber(operations) > tonumber(photos) then return end
    if not has_room(tonumber(photos)) then return postpone(id) end
    local begun, repairs = {}, 0
    for _, name in ipairs({COUNT_FIELDS}) do
        local count = redis.call('HGET', key, name)
        if not is_integer(count) then
            redis.call('HSET', key, name, 0)
            count, repairs = '0', repairs + 1
        end
        begun[#begun + 1] = 'base:' .. name
        begun[#begun + 1] = count
    end
    if redis.call('HLEN', key .. REASONS) > 1000 then redis.call('UNLINK', key .. REASONS) end
    local reasons = redis.call('HGETALL', key .. REASONS)
    for i = 1, #reasons, 2 do
        local reason, count = reasons[i], reasons[i + 1]
        if is_integer(count) then
            begun[#begun + 1] = 'base.' .. reason
            begun[#begun + 1] = count
        else
            redis.call('HDEL', key .. REASONS, reason)
            repairs = repairs + 1
        end
    end
    redis.call('UNLINK', KEY_REPAIR_STATES)
    if photos ~= '0' then redis.call('COPY', key .. STATES, KEY_REPAIR_STATES) end
    redis.call('HSET', KEY_REPAIR, 'batch', id, 'next', 1, 'photos', photos, 'repairs', repairs, unpack(begun))
end

-- Checks up to 250 operations and 5,000 photos of the batch from the operation `first`. Returns the next operation.
local function check_operations(id, key, first, photos_then)
    local size, photos, operations, cancelled, originals, output, lease = unpack(
        redis.call('HMGET', key, 'size', 'photos', 'operations', 'flag.cancelled', 'originals', 'output', 'lease'))
    size, photos, operations, cancelled = tonumber(size), tonumber(photos), tonumber(operations), cancelled == '1'
    local last = math.min(operations, first + math.min(250, math.max(1, math.floor(5000 / size))) - 1)
    if last < first then return first end
    local from, numbers, repairs = (first - 1) * size, {}, 0
    local lease_clock = tonumber(redis.call('HGET', KEY_CONTROL, 'lease.clock') or '') or 0
    local function correct(changes) repairs = repairs + changes end
    local function count(field, change) if change ~= 0 then redis.call('HINCRBY', key, field, change) end end

    -- Count the state codes as they were at the beginning of the check.
    if from < photos_then then
        local codes, found, rest = redis.call('GETRANGE', KEY_REPAIR_STATES, from, math.min(last * size, photos_then) - 1), {}, 0
        for code, field in pairs({D = 'count.downloaded', F = 'count.filtered', C = 'count.cancelled'}) do
            local _, number = string.gsub(codes, code, '')
            if number > 0 then redis.call('HINCRBY', KEY_REPAIR, 'found:' .. field, number) end
        end
        for code in string.gmatch(codes, '[FAILURE_CODES]') do
            found[code] = (found[code] or 0) + 1
            rest = rest + 1
        end
        if rest > 0 then redis.call('HINCRBY', KEY_REPAIR, 'found:count.failed', rest) end
        for code, number in pairs(found) do redis.call('HINCRBY', KEY_REPAIR, 'found.' .. code, number) end
    end

    -- Check the current state codes, the queue and the entries.
    local live = redis.call('GETRANGE', key .. STATES, from, math.min(last * size, photos) - 1)
    local missing = math.min(last * size, photos) - from - #live
    if missing > 0 then  -- photos without a state code are new
        correct(1)
        live = live .. string.rep('N', missing)
        redis.call('SETRANGE', key .. STATES, from, live)
    end
    for number = first, last do numbers[#numbers + 1] = number end
    local holders, queued = redis.call('HMGET', key .. EXECUTING, unpack(numbers)), redis.call('ZMSCORE', key .. QUEUE, unpack(numbers))
    local failures = redis.call('HLEN', key .. FAILURES)
    local room = most_kept() - failures
    local lost, lost_photos, lease_ends = {}, 0, {}
    for i, number in ipairs(numbers) do
        local stored, member = string.sub(live, (i - 1) * size + 1, i * size), id .. '/' .. number
        -- Photos with an unknown code are new.
        local codes = string.gsub(stored, '[^FAILURE_CODES' .. 'NDFC]', 'N')
        local is_open = string.find(codes, '[ND]')
        if holders[i] then
            if queued[i] then correct(redis.call('ZREM', key .. QUEUE, number)) end
            if not redis.call('ZSCORE', KEY_LEASES, member) then
                correct(1)
                redis.call('ZADD', KEY_LEASES, lease_clock + (tonumber(lease) or 0), member)
            end
        else
            lease_ends[#lease_ends + 1] = member
            if not cancelled then
                local has_entry = redis.call('HEXISTS', key .. OPERATIONS, number) == 1
                local new = codes
                if is_open and not has_entry then
                    new = string.gsub(codes, '[ND]', lost_code)
                    for at = 1, #codes do
                        if string.find(codes, '^[ND]', at) then
                            lost_photos = lost_photos + 1
                            if #lost < 2 * room then
                                lost[#lost + 1] = string.format('%.0f', from + (i - 1) * size + at - 1)
                                lost[#lost + 1] = lost_text
                            end
                        end
                    end
                    is_open = false
                elseif is_open and (not originals or originals == '') then
                    new = string.gsub(codes, 'D', 'N')
                end
                if new ~= stored then
                    correct(1)
                    local _, before = string.gsub(stored, 'D', '')
                    local _, after = string.gsub(new, 'D', '')
                    count('count.downloaded', after - before)
                    redis.call('SETRANGE', key .. STATES, from + (i - 1) * size, new)
                end
                -- A photo that was cancelled individually may have no manifest line: the next worker writes the line.
                local stays = is_open or queued[i] and has_entry and output ~= '' and string.find(codes, 'C', 1, true)
                if stays then
                    local score = tonumber(queued[i] or '')
                    local is_deferred = score and score >= DEFERRED
                    if score ~= number and not is_deferred then
                        correct(1)
                        redis.call('ZADD', key .. QUEUE, number, number)
                    end
                else
                    if queued[i] then correct(redis.call('ZREM', key .. QUEUE, number)) end
                    correct(redis.call('HDEL', key .. LEASE_EXPIRIES, number))
                    correct(redis.call('HDEL', key .. RETRIES, number))
                    if has_entry and not string.find(new, '[^NDFC]') then correct(redis.call('HDEL', key .. OPERATIONS, number)) end
                end
            end
        end
    end
    if #lease_ends > 0 then correct(redis.call('ZREM', KEY_LEASES, unpack(lease_ends))) end
    if lost_photos > 0 then
        add_totals({'photos.failed', lost_photos})
        count('count.failed', lost_photos)
        redis.call('HINCRBY', key .. REASONS, lost_code, lost_photos)
    end
    -- Remove the failures of photos that have not failed.
    if failures > 0 then
        local wrong, at = {}, 0
        while true do
            at = string.find(live, '[NDFC]', at + 1)
            if at then wrong[#wrong + 1] = string.format('%.0f', from + at - 1) end
            if #wrong == 1000 or not at and #wrong > 0 then
                correct(redis.call('HDEL', key .. FAILURES, unpack(wrong)))
                wrong = {}
            end
            if not at then break end
        end
    end
    for at = 1, #lost, 1000 do redis.call('HSET', key .. FAILURES, unpack(lost, at, math.min(at + 999, #lost))) end
    redis.call('HINCRBY', KEY_REPAIR, 'repairs', repairs)
    return last + 1
end

-- Completes the check of the batch: corrects its counters, its state, and its places in the sets of the namespace. Returns the number
-- of corrections.
local function complete(id, key)
    local values = redis.call('HGETALL', KEY_REPAIR)
    local repairs, reasons, base, found = 0, {}, {}, {}
    for i = 1, #values, 2 do
        local field, value = values[i], values[i + 1]
        local kind, name = string.match(field, '^(%l+[:.])(.+)$')
        if field == 'repairs' then repairs = tonumber(value) end
        if kind == 'base:' or kind == 'base.' then base[name] = tonumber(value) end
        if kind == 'found:' or kind == 'found.' then found[name] = tonumber(value) end
        if kind == 'base.' or kind == 'found.' then reasons[name] = true end
    end
    local function correct(changes) repairs = repairs + changes end
    for _, name in ipairs({COUNT_FIELDS}) do
        local difference = (found[name] or 0) - (base[name] or 0)
        if difference ~= 0 then
            correct(1)
            redis.call('HINCRBY', key, name, difference)
        end
    end
    for name in pairs(reasons) do
        local difference = (found[name] or 0) - (base[name] or 0)
        if difference ~= 0 then correct(1) end
        if redis.call('HINCRBY', key .. REASONS, name, difference) == 0 then redis.call('HDEL', key .. REASONS, name) end
    end

    local state, operations, old_ended, old_executing, old_kept, sealed, cancelled, priority, retain = unpack(
        redis.call('HMGET', key, 'state', 'operations', 'operations.ended', 'executing', 'operations.kept', 'sealed', 'flag.cancelled',
            'priority', 'retain'))
    operations, cancelled, priority = tonumber(operations), cancelled == '1', priority or 'normal'
    -- Remove operations that were never fed, and members that are not operations.
    for _, range in ipairs({{from = '-inf', to = '(1'}, {from = '(' .. operations, to = '(' .. DEFERRED}}) do
        local outside = redis.call('ZRANGEBYSCORE', key .. QUEUE, range.from, range.to, 'LIMIT', 0, 1000)
        if #outside > 0 then correct(redis.call('ZREM', key .. QUEUE, unpack(outside))) end
    end
    local deferred, next_due = redis.call('ZRANGEBYSCORE', key .. QUEUE, DEFERRED, '+inf', 'WITHSCORES', 'LIMIT', 0, 1000), nil
    for i = 1, #deferred, 2 do
        local number, score = deferred[i], deferred[i + 1]
        if string.find(number, '^[1-9]%d*$') and tonumber(number) <= operations then
            next_due = next_due or score - DEFERRED
        else
            correct(redis.call('ZREM', key .. QUEUE, number))
        end
    end
    if next_due and not cancelled then
        local known = redis.call('ZSCORE', KEY_DEFERRED, id)
        if not known or tonumber(known) > next_due then
            correct(1)
            redis.call('ZADD', KEY_DEFERRED, next_due, id)
        end
    end
    local without_entry = 0  -- the workers that hold these operations still know their photos
    if redis.call('HLEN', key .. EXECUTING) <= 10000 then
        local holders = redis.call('HGETALL', key .. EXECUTING)
        for i = 1, #holders, 2 do
            local number = holders[i]
            if not (string.find(number, '^[1-9]%d*$') and tonumber(number) <= operations) then
                redis.call('ZREM', KEY_LEASES, id .. '/' .. number)
                correct(redis.call('HDEL', key .. EXECUTING, number))
            elseif redis.call('HEXISTS', key .. OPERATIONS, number) == 0 then
                without_entry = without_entry + 1
            end
        end
    end
    if not cancelled then correct(redis.call('HDEL', key .. OPERATIONS, string.format('%.0f', operations + 1))) end
    local queued, held = redis.call('ZCARD', key .. QUEUE), redis.call('HLEN', key .. EXECUTING)
    local ended = math.max(0, operations - queued - held)
    local kept = math.max(0, redis.call('HLEN', key .. OPERATIONS) - queued - held + without_entry)
    local function set(name, old, new)
        if tonumber(old or '') ~= new then
            correct(1)
            redis.call('HSET', key, name, new)
        end
    end
    set('executing', old_executing, held)
    if not cancelled or state ~= 'finished' or held > 0 then set('operations.ended', old_ended, ended) end
    -- The entries of a cancelled batch are removed when it finishes, and the counter stays.
    if cancelled and state == 'finished' then kept = math.max(0, math.min(math.floor(tonumber(old_kept or '') or 0), operations)) end
    set('operations.kept', old_kept, kept)

    for _, other in ipairs({PRIORITIES}) do
        if other ~= priority then correct(redis.call('ZREM', KEY_READY .. other, id)) end
    end
    if cancelled then
        correct(redis.call('ZREM', KEY_DEFERRED, id))
        correct(redis.call('ZREM', KEY_READY .. priority, id))
        if state == 'finished' and held > 0 then
            correct(1)
            redis.call('HSET', key, 'state', 'executing', 'finished', '')
            redis.call('ZREM', KEY_EXPIRING, id)
        elseif state ~= 'finished' and held == 0 then
            correct(1)
            finish_batch(id, now, true)
        end
    elseif state == 'waiting' then
        correct(redis.call('ZREM', KEY_READY .. priority, id))
        for _, awaited in ipairs(redis.call('SRANDMEMBER', key .. DEPENDENCIES, 1000)) do
            local other = KEY_BATCH .. awaited
            local other_state, other_operations, other_ended, other_cancelled =
                batch_fields(other, 'state', 'operations', 'operations.ended', 'flag.cancelled')
            -- A batch whose operations have not ended is not finished, whatever its state is.
            local is_over = other_state == 'finished' and (other_cancelled == '1' or other_operations == other_ended)
            if other_state and (not is_over or redis.call('ZSCORE', KEY_RELEASES, awaited)) then
                correct(redis.call('SADD', other .. DEPENDENTS, id))
            else
                correct(redis.call('SREM', key .. DEPENDENCIES, awaited))
                if other_state then redis.call('SREM', other .. DEPENDENTS, id) end
            end
        end
        if redis.call('EXISTS', key .. DEPENDENCIES) == 0 then
            correct(1)
            mark_ready(id, now, true)
        end
    else
        for _, awaited in ipairs(redis.call('SRANDMEMBER', key .. DEPENDENCIES, 1000)) do
            if batch_fields(KEY_BATCH .. awaited, 'state') then redis.call('SREM', KEY_BATCH .. awaited .. DEPENDENTS, id) end
            correct(redis.call('SREM', key .. DEPENDENCIES, awaited))
        end
        local is_over = sealed == '1' and ended == operations
        if is_over and state ~= 'finished' then
            correct(1)
            finish_batch(id, now, true)
        elseif not is_over and state == 'finished' then
            correct(1)
            redis.call('ZREM', KEY_RELEASES, id)
            reopen_batch(id, now)
        end
        if held > 0 and redis.call('HGET', key, 'state') == 'ready' then
            correct(1)
            redis.call('HSET', key, 'state', 'executing', 'started', now)
        end
        local ready_key = KEY_READY .. priority
        local was_ready = redis.call('ZSCORE', ready_key, id) and 1 or 0
        ready_sync(id, now)
        if was_ready ~= (redis.call('ZSCORE', ready_key, id) and 1 or 0) then correct(1) end
    end
    local state_now = redis.call('HGET', key, 'state')
    if state_now ~= 'executing' then
        correct(redis.call('HDEL', key, 'pace'))
    elseif redis.call('HEXISTS', key, 'pace') == 0 then
        begin_pace(key, now)
    end
    if state_now ~= 'finished' then
        correct(redis.call('ZADD', KEY_OPEN, 'NX', tonumber(redis.call('HGET', key, 'submitted')) or 0, id))
    else
        correct(redis.call('ZREM', KEY_OPEN, id))
        correct(redis.call('HDEL', key, FOCUS_FIELDS))
        if cancelled then correct(redis.call('UNLINK', key .. QUEUE, key .. OPERATIONS, key .. LEASE_EXPIRIES, key .. RETRIES)) end
        if redis.call('EXISTS', key .. DEPENDENTS) == 1 then correct(redis.call('ZADD', KEY_RELEASES, 'NX', now, id)) end
        if (tonumber(retain) or -1) >= 0 and not redis.call('ZSCORE', KEY_EXPIRING, id) then
            correct(1)
            schedule_deletion(id)
        end
    end
    return repairs
end

-- A server that has started since the last call may have loaded a torn file. A check that was in progress starts again.
local function begin_run()
    local run = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)') or ''
    if redis.call('HGET', KEY_REPAIR_ROUND, 'run') ~= run then
        redis.call('UNLINK', KEY_REPAIR, KEY_REPAIR_STATES)
        redis.call('HSET', KEY_REPAIR_ROUND, 'run', run)
        redis.call('HSET', KEY_REPAIR, 'pass', '', 'pass.time', '')
    end
    local type_of_open = redis.call('TYPE', KEY_OPEN).ok
    if type_of_open ~= 'zset' and type_of_open ~= 'none' then redis.call('UNLINK', KEY_OPEN) end
    if wanted_id ~= '' and redis.call('SCARD', KEY_REPAIR_WANTED) < 1000 then redis.call('SADD', KEY_REPAIR_WANTED, wanted_id) end
end

-- Does one step. Returns the id of the batch whose check is complete, or '', and the number of its corrections.
local function step()
    begin_run()
    local id, next_operation, photos_then = unpack(redis.call('HMGET', KEY_REPAIR, 'batch', 'next', 'photos'))
    local checked, repairs = '', 0
    if id then
        local key = KEY_BATCH .. id
        local size, photos, operations, state = batch_fields(key, 'size', 'photos', 'operations', 'state')
        if not state or not is_valid_batch(size, photos, operations) or tonumber(operations) > tonumber(photos) then
            leave_batch()
        else
            local after = check_operations(id, key, tonumber(next_operation), tonumber(photos_then))
            if after > tonumber(operations) then
                checked, repairs = id, complete(id, key)
                leave_batch()
            else
                redis.call('HSET', KEY_REPAIR, 'next', after)
            end
        end
    else
        local wanted = redis.call('SRANDMEMBER', KEY_REPAIR_WANTED)
        local pass, pass_time = unpack(redis.call('HMGET', KEY_REPAIR, 'pass', 'pass.time'))
        if wanted then
            redis.call('SREM', KEY_REPAIR_WANTED, wanted)
            begin(wanted)
        elseif pass then
            local page = following(pass, pass_time)
            if #page == 0 then redis.call('UNLINK', KEY_REPAIR) end
            for i = 1, #page, 2 do
                local id, time = page[i], page[i + 1]
                redis.call('HSET', KEY_REPAIR, 'pass', id, 'pass.time', time)
                local state, cancelled = batch_fields(KEY_BATCH .. id, 'state', 'flag.cancelled')
                local is_sound = state and are_sums_sound(id)
                -- All photos of a finished batch are final. If its counters agree, the batch needs no complete check.
                if not (is_sound and state == 'finished' and cancelled ~= '1') then
                    begin(id)
                    if redis.call('HEXISTS', KEY_REPAIR, 'batch') == 1 then break end
                end
            end
        else
            resume_postponed()
            -- Remove the ids of batches that no longer exist. Such ids become the oldest ones when the other batches finish.
            for _, id in ipairs(redis.call('ZRANGE', KEY_OPEN, 0, 99)) do
                if not redis.call('ZSCORE', KEY_BATCHES, id) then redis.call('ZREM', KEY_OPEN, id) end
            end
            local page = following(unpack(redis.call('HMGET', KEY_REPAIR_ROUND, 'batch', 'time')))
            for i = 1, #page, 2 do
                local id = page[i]
                if batch_fields(KEY_BATCH .. id, 'state') and not are_sums_sound(id) then redis.call('SADD', KEY_REPAIR_WANTED, id) end
            end
            if #page == 200 then
                local last_id, last_time = unpack(page, 199)
                redis.call('HSET', KEY_REPAIR_ROUND, 'batch', last_id, 'time', last_time)
            else
                redis.call('HDEL', KEY_REPAIR_ROUND, 'batch', 'time')
            end
        end
    end
    return checked, repairs
end

-- Ends the check of a batch after an error of the script, so that the next call continues with other batches. Returns the id of the batch,
-- or ''.
local function skip()
    for key, wanted in pairs({[KEY_REPAIR] = 'hash', [KEY_REPAIR_ROUND] = 'hash', [KEY_REPAIR_WANTED] = 'set', [KEY_REPAIR_STATES] = 'string'}) do
        local found = redis.call('TYPE', key).ok
        if found ~= wanted and found ~= 'none' then redis.call('UNLINK', key) end
    end
    local id = redis.call('HGET', KEY_REPAIR, 'batch') or ''
    leave_batch()
    return id
end

local is_done, checked, repairs = pcall(step)
local skipped, failure = '', ''
if not is_done then
    failure = type(checked) == 'table' and checked.err or tostring(checked)
    -- These are errors of the server, which end the call.
    for _, name in ipairs({'OOM', 'NOPERM', 'ACL failure', 'The user executing the script', 'READONLY', 'MISCONF', 'NOREPLICAS'}) do
        if string.find(failure, name, 1, true) then return redis.error_reply(failure) end
    end
    checked, repairs, skipped = '', 0, skip()
end
local batch, pass = unpack(redis.call('HMGET', KEY_REPAIR, 'batch', 'pass'))
local more = batch or pass or redis.call('EXISTS', KEY_REPAIR_WANTED) == 1
if more then redis.call('HSET', KEY_REPAIR, 'step', now) else redis.call('UNLINK', KEY_REPAIR) end
return {'OK', more and 1 or 0, checked, repairs, skipped, failure}
