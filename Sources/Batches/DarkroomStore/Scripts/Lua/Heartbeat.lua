#!lua flags=allow-oom
-- Records that a worker is running, renews the worker's leases, does one step of maintenance, and samples the history. Without a worker,
-- the script does only the maintenance and the sampling.
-- ROLES worker, coordinator
-- KEYS[1] the prefix of every key, `{<namespace>}:`
-- ARGV[1] worker id, '' for none  [2] number of facts  [3...] field and value of each fact to store, then the operations that the
--     worker holds (see renew_leases.lua)
-- {'OK', lost, controls, codes, webhooks, more, turn, stale_files, repair, workers}
--     lost: see renew_leases.lua
--     controls: version and controls of the cluster (see cluster_controls.lua), then id and controls (see batch_controls.lua)
--     of each batch that the worker named and that exists
--     codes: batch id, operation number, state codes, ... of each held operation whose batch has photos that were cancelled
--     individually
--     webhooks: member, time, URL, ... of up to 10 webhooks that are due
--     more: 1 if there is more maintenance to do, which another heartbeat may do at once
--     turn: a counter that grows whenever a batch enters a ready queue
--     stale_files: batch id, operation number, fencing token: the worker must try to remove the temporary files of this
--     operation that have this fencing token or a lower one in their names. Empty if there are none. The replies to nine
--     heartbeats, a minute apart, name the same operation, because not every worker sees the folder.
--     workers: the number of workers that do the maintenance. While operations are executing or deferred, dependents must be released,
--     or webhooks must be called, the maintenance must be frequent: only the workers that have sent a heartbeat or a claim in the last 3 s
--     are counted. At other times, all running workers are counted
--     repair: 1 if the caller must call Repair.lua: every 10 s, and if no caller has continued an unfinished check for 1 s
--#include prelude.lua
--#include advance_clocks.lua
--#include batch_controls.lua
--#include batch_fields.lua
--#include cluster_controls.lua
--#include maintain.lua
--#include renew_leases.lua
--#include running_workers.lua
--#include sample_history.lua
local worker, facts = ARGV[1], ARGV[2]
local now, lease_clock, retention_clock = advance_clocks()
local held_at = 3 + 2 * facts
if worker ~= '' and held_at > 3 then redis.call('HSET', KEY_WORKER .. worker, unpack(ARGV, 3, held_at - 1)) end
local lost, still_held = renew_leases(worker, held_at, lease_clock)
local more = maintain(worker, now, lease_clock, retention_clock)
local is_sampled = sample_history(now)

-- The fact `running` names the batches of which the worker runs photos now: `<batch>:<indexes> <batch>:<indexes> ...`.
local running = #still_held > 0 and ' ' .. (redis.call('HGET', KEY_WORKER .. worker, 'running') or '') or ''
local version, cluster = cluster_controls()
local controls_of, codes, webhooks = {version, cluster}, {}, {}
for _, batch in ipairs(still_held) do
    local id, numbers = batch.id, batch.numbers
    local key = KEY_BATCH .. id
    local state, size, photos, cancelled_photos, filtered, failed, pace, worked, started, spent = batch_fields(key, 'state', 'size', 'photos',
        'count.cancelled', 'count.filtered', 'count.failed', 'pace', 'worked', 'started', 'spent')
    if state then
        local done = (tonumber(filtered) or 0) + (tonumber(failed) or 0)
        local is_running = string.find(running, ' ' .. id .. ':', 1, true)
        if state == 'executing' and (is_running or not pace or string.match(pace, '^%d+ (%d+)') ~= string.format('%.0f', done)) then
            local elapsed = math.max(0, (tonumber(spent) or 0) + now - (tonumber(started) or now))
            --#include sample_pace.lua
            sample_pace(key, now, pace, worked, done, elapsed)
        end
        local controls = batch_controls(key)
        controls_of[#controls_of + 1] = id
        controls_of[#controls_of + 1] = controls
        if cancelled_photos ~= '0' then
            local cancelled = string.find(controls, 'c', 1, true)
            for _, number in ipairs(numbers) do
                codes[#codes + 1] = id
                codes[#codes + 1] = tonumber(number)
                local text = redis.call('GETRANGE', key .. STATES, (number - 1) * size, math.min(number * size, tonumber(photos)) - 1)
                codes[#codes + 1] = cancelled and string.gsub(text, '[ND]', 'C') or text
            end
        end
    end
end
local due = redis.call('ZRANGEBYSCORE', KEY_WEBHOOKS, '-inf', now, 'WITHSCORES', 'LIMIT', 0, 10)
for i = 1, #due, 2 do
    local member, time = due[i], due[i + 1]
    local url = batch_fields(KEY_BATCH .. (string.match(member, '^(.*) %d+$') or ''), 'webhook')
    if url then
        webhooks[#webhooks + 1] = member
        webhooks[#webhooks + 1] = tonumber(time)
        webhooks[#webhooks + 1] = url
    else
        redis.call('ZREM', KEY_WEBHOOKS, member)
    end
end
local stale_files, left = {}, worker ~= '' and redis.call('ZRANGEBYSCORE', KEY_STALE_FILES, '-inf', now, 'LIMIT', 0, 1)[1]
if left then
    redis.call('ZREM', KEY_STALE_FILES, left)
    local id, operation, token, attempt = string.match(left, '^(%S+) (%d+) (%d+) ([1-9])$')
    if id then
        stale_files = {id, tonumber(operation), tonumber(token)}
        if attempt ~= '9' then
            redis.call('ZADD', KEY_STALE_FILES, now + 60000, id .. ' ' .. operation .. ' ' .. token .. ' ' .. attempt + 1)
        end
    end
end
local is_quiet = redis.call('EXISTS', KEY_LEASES, KEY_DEFERRED, KEY_WEBHOOKS, KEY_RELEASES) == 0
local maintainers = is_quiet and running_workers(now) or redis.call('ZCOUNT', KEY_WORKERS, now - 3000, '+inf')
local repair = is_sampled
if redis.call('EXISTS', KEY_REPAIR, KEY_REPAIR_WANTED) > 0 then
    local step = tonumber(redis.call('HGET', KEY_REPAIR, 'step') or '')
    repair = repair or not (step and math.abs(now - step) < 1000)
end
return {'OK', lost, controls_of, codes, webhooks, more, tonumber(redis.call('HGET', KEY_CONTROL, 'entered') or 0), stale_files, repair and 1 or 0, maintainers}
