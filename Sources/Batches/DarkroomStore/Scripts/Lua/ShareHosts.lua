#!lua flags=allow-oom
-- Shares hosts between workers, so that all workers together send a host no more requests than one worker would. Gives the worker permits
-- for its requests, and exchanges the facts that workers have learned about the hosts.
-- ROLES worker
-- KEYS[1] the prefix of every key, `{<namespace>}:`
-- ARGV[1] worker id, then for each host 9 arguments: its name; the requests that are running; the requests that the worker wants to
--     run (0: the worker leaves the host); its limit for requests at the same time; the highest limit that it ever allows; '' or a change
--     of the limit since the last call (`+8` raised to 8, `-8` lowered to 8); '' or a change of the rate in the same form, in requests per
--     1,000 s (`-0`: none); '' or the new state; '' or the time since the last answer in ms.
--     The state is `up`, or `paused` or `down` with three numbers: ms since it began, ms until the next request, refusals or probes in a row.
-- {'OK', permits, users, all, is_contended, limit, rate, version, state, answered, ...} 9 elements for each host:
--     permits: the number of requests that the worker may run at the same time
--     users: the number of workers that have or want permits
--     all: the number of permits of all workers
--     is_contended: 1 if a worker waits for its share of the permits, so that the caller should ask again soon
--     limit, rate: the values that the workers have learned; a rate of 0: none
--     version: grows with each change of the state; state, answered: as above; '' if not known
--
-- For each host, there is a hash `host:<name>`. Its fields, with times of the Redis server:
--     shared: `<limit> <rate> <most> <permits> <short> <users> <swept> <answered> <version> <state>`. `most` is the lowest `most`
--     of the workers; permits, short and users are sums of the workers' fields; they were last recomputed at `swept`
--     worker:<id>: `<permits> <is short> <when it got permits or gave them back> <time of the call> <most>`. A worker is short if
--     it has less than its share
--#include prelude.lua
--#include server_time.lua
local now = server_time()
-- All times in ms. A worker that has not called for LAPSE loses its permits.
local LAPSE = 6000
-- If there are more users than permits, a worker gives its permits back after TURN, and gets none for BREAK.
local TURN, BREAK = 1000, 300
-- The time between two checks of all entries of a host.
local SWEEP = 1000
-- The time for which a host is remembered: KEEP, or KEEP_CALM if it was never in trouble. If the host gets no requests now, the time until
-- its next request is added, at most LONGEST_PAUSE, because until then perhaps no worker has photos of the host.
local KEEP, KEEP_CALM, LONGEST_PAUSE = 120000, 20000, MOST_DEFERRAL
local YEAR = 31600000000
local MOST_REQUESTS = 10000

local function number(text, least, most)
    local found = tonumber(text or '')
    return found and found >= least and found <= most and math.floor(found) or nil
end
local function change(old, text, least, most)
    local sign, found = string.match(text, '^([+-])(%d+)$')
    found = number(found, least, most)
    if not found or not old then return found or old end
    return sign == '+' and math.max(old, found) or math.min(old, found)
end

local me, reply = 'worker:' .. ARGV[1], {'OK'}
for at = 2, #ARGV, 9 do
    local host, running, wanted, own, cap, limit_change, rate_change, new_state, since_answer = unpack(ARGV, at, at + 8)
    local key = prefix .. 'host:' .. host
    running, wanted, own, cap = tonumber(running), tonumber(wanted), tonumber(own), tonumber(cap)
    local stored = redis.pcall('HMGET', key, 'shared', me)
    if stored.err then  -- the key has another type
        redis.call('UNLINK', key)
        stored = {}
    end
    local old_shared, old_entry = unpack(stored)
    local limit, rate, most, permits, short, users, swept, answered, version, state =
        string.match(old_shared or '', '^(%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) ?(.*)$')
    limit, rate, most = number(limit, 1, MOST_REQUESTS), number(rate, 1, 100000000), number(most, 1, MOST_REQUESTS)
    permits, short, users = number(permits, 0, 100000000), number(short, 0, 1000000), number(users, 0, 1000000)
    swept, answered, version = number(swept, 0, now) or 0, number(answered, 1, now), number(version, 0, 4503599627370496) or 0
    local mine, was_short, turned = string.match(old_entry or '', '^(%d+) ([01]) (%d+) %d+ %d+$')
    mine, was_short, turned = number(mine, 0, MOST_REQUESTS), number(was_short, 0, 1) or 0, number(turned, 0, now) or 0

    if now - swept >= SWEEP or not (permits and short and users and most) then
        permits, short, users, mine, most = 0, 0, 0, nil, MOST_REQUESTS
        local all, gone = redis.call('HGETALL', key), {}
        for i = 1, #all, 2 do
            local field, value = all[i], all[i + 1]
            if field ~= 'shared' then
                local has, is_short, called, its_most = string.match(value, '^(%d+) ([01]) %d+ (%d+) (%d+)$')
                has, called, its_most = number(has, 0, MOST_REQUESTS), number(called, 0, now), number(its_most, 1, MOST_REQUESTS)
                if has and called and its_most and now - called <= LAPSE then
                    permits, short, users, most = permits + has, short + is_short, users + 1, math.min(most, its_most)
                    if field == me then mine = has end
                else
                    gone[#gone + 1] = field
                end
            end
        end
        for i = 1, #gone, 1000 do redis.call('HDEL', key, unpack(gone, i, math.min(i + 999, #gone))) end
        swept = now
    end
    -- Subtract this worker from the sums.
    if mine then
        permits, short, users = math.max(0, permits - mine), math.max(0, short - was_short), math.max(0, users - 1)
    else
        mine, turned = 0, 0
    end

    limit = change(limit, limit_change, 1, MOST_REQUESTS) or own
    rate = change(rate, rate_change, 0, 100000000)
    local name, since, next_at, count = string.match(state or '', '^(%l+) (%d+) (%d+) (%d+)$')
    since, next_at, count = number(since, 0, now), number(next_at, 0, now + YEAR), number(count, 0, 1000)
    if not (since and next_at and count and (name == 'paused' or name == 'down')) then
        name, state = nil, state == 'up' and 'up' or ''
    end
    local passed = number(since_answer, 0, now)
    local told = passed and now - passed
    local new, began, wait, times = string.match(new_state, '^(%l+) ?(%d*) ?(%d*) ?(%d*)$')
    -- If another worker has got a later answer, the host is not down: only this worker cannot reach it.
    if new == 'down' and answered and told and answered > told + 1000 then new = nil end
    if told then answered = math.max(answered or 0, told) end
    if new == 'up' then
        name, state = nil, 'up'
    elseif new then
        local until_at = now + (number(wait, 0, YEAR) or 0)
        if new == 'paused' and name == 'paused' then until_at = math.max(until_at, next_at) end
        name, since, next_at, count = new, now - (number(began, 0, now) or 0), until_at, number(times, 0, 1000) or 0
        state = string.format('%s %.0f %.0f %d', name, since, next_at, count)
    end
    -- If the host was forgotten after a worker read its version, the new version must differ from the version that the worker knows.
    if new then version = math.max(version + 1, now) end

    local given, is_short, entry = 0, 0, nil
    if wanted > 0 then
        users, most = users + 1, math.min(most, cap)
        -- A host in trouble gets one request at a time, the probe.
        local bound = name and 1 or math.min(limit, most)
        local share, free = math.floor(bound / users), math.max(0, bound - permits)
        given = math.min(wanted, free)
        if short > 0 and share > 0 then
            given = math.min(given, share)
        elseif short > 0 and (mine > 0 and now - turned >= TURN or mine == 0 and turned > 0 and now - turned < BREAK) then
            given = 0
        end
        local has = math.max(given, running)
        if (has > 0) ~= (mine > 0) then turned = now end
        is_short = has < math.min(wanted, math.max(share, 1)) and 1 or 0
        permits, short = permits + has, short + is_short
        entry = string.format('%d %d %.0f %.0f %d', has, is_short, turned, now, cap)
    elseif old_entry then
        redis.call('HDEL', key, me)
    end
    local shared = string.format('%d %d %d %d %d %d %.0f %.0f %.0f %s', limit, rate or 0, most, permits, short, users, swept,
        answered or 0, version, state)
    if entry then
        redis.call('HSET', key, 'shared', shared, me, entry)
    else
        redis.call('HSET', key, 'shared', shared)
    end
    if swept == now or new then
        local pause = name and math.min(math.max(0, next_at - now), LONGEST_PAUSE) or 0
        redis.call('PEXPIRE', key, version > 0 and KEEP + pause or KEEP_CALM)
    end

    if name then
        state = string.format('%s %.0f %.0f %d', name, math.max(0, now - since), math.max(0, next_at - now), count)
    end
    local last = answered and string.format('%.0f', now - answered) or ''
    for _, value in ipairs({given, users, permits, short > 0 and 1 or 0, limit, rate or 0, version, state, last}) do
        reply[#reply + 1] = value
    end
end
return reply
