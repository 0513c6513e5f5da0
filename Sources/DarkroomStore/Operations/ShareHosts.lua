#!lua flags=allow-oom
-- Shares hosts between workers, so that all workers together send a host no more requests than one worker would. Gives the worker
-- permits for its requests, and exchanges what workers have learned about the hosts.
-- KEYS[1] the prefix of every key, `{<namespace>}:`
-- ARGV[1] worker id, then for each host (up to 200) 9 arguments: its name; the requests that are running; the requests that the
--     worker wants to run (0: the worker leaves the host); its limit for requests at the same time; the most that it ever allows;
--     '' or what has changed since the last call: the limit (`+8` raised to 8, `-8` lowered to 8), the rate in requests per 1,000 s
--     (likewise), the state, the time since the last answer in ms.
--     The state is `up`, or `paused`, `down` or `slow` with three numbers: ms since it began, ms until the next request, a count.
-- {'OK', permits, users, is_contended, limit, rate, version, state, answered, ...} 8 elements for each host:
--     permits: how many requests the worker may run at the same time
--     users: the number of workers that have or want permits
--     is_contended: 1 if a worker waits for its share of the permits, so that the caller should ask again soon
--     limit, rate: what the workers have learned; a rate of 0: none
--     version: grows with each change of the state; state, answered: as above; '' if not known
--
-- For each host, there is a hash `host:<name>`. Its fields:
--     limit, rate, version, state (with times of the Redis server), answered
--     worker:<id>: `<permits> <is short> <when the permits were given or taken back> <time of the call>`. A worker is short if it
--     has less than its share
--     permits, short, users: the sums of these entries; swept: when the sums were last made anew
--#include prelude.lua
--#include now.lua
-- All in ms. A worker that has not called for LAPSE has no permits.
--#define LAPSE 6000
-- If there are more users than permits, a worker gives its permits back after TURN, and gets none for BREAK.
--#define TURN 1000
--#define BREAK 300
-- How often the entries are looked through.
--#define SWEEP 2000
-- How long a host is remembered.
--#define KEEP 120000

local function number(text, most)
    local found = tonumber(text or '')
    return found and found >= 0 and found <= most and math.floor(found) or nil
end
local function change(old, text, most)
    local sign, found = string.match(text, '^([+-])(%d+)$')
    found = number(found, most)
    if not found then return old end
    if not old then return found end
    return sign == '+' and math.max(old, found) or math.min(old, found)
end

local me, reply = 'worker:' .. ARGV[1], {'OK'}
for at = 2, #ARGV, 9 do
    local key = prefix .. 'host:' .. ARGV[at]
    local running, wanted, own, cap = tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3]), tonumber(ARGV[at + 4])
    local kind = redis.call('TYPE', key).ok
    if kind ~= 'hash' and kind ~= 'none' then redis.call('UNLINK', key) end
    local h = redis.call('HMGET', key, 'limit', 'rate', 'version', 'state', 'answered', 'permits', 'short', 'users', 'swept', me)
    local limit, rate, version = number(h[1], 10000), number(h[2], 100000000), number(h[3], 4503599627370496) or 0
    local answered, swept = number(h[5], now), number(h[9], now) or 0
    local permits, short, users = number(h[6], 100000000), number(h[7], 1000000), number(h[8], 1000000)
    local mine, was_short, turned = string.match(h[10] or '', '^(%d+) ([01]) (%d+) %d+$')
    mine, was_short, turned = number(mine, 10000), number(was_short, 1) or 0, number(turned, now) or 0

    if now - swept >= SWEEP or not (permits and short and users) then
        permits, short, users, mine = 0, 0, 0, nil
        local all, gone = redis.call('HGETALL', key), {}
        for i = 1, #all, 2 do
            if string.find(all[i], '^worker:') then
                local has, is_short, _, seen = string.match(all[i + 1], '^(%d+) ([01]) (%d+) (%d+)$')
                has, seen = number(has, 10000), number(seen, now)
                if has and seen and now - seen <= LAPSE then
                    permits, short, users = permits + has, short + is_short, users + 1
                    if all[i] == me then mine = has end
                else
                    gone[#gone + 1] = all[i]
                end
            end
        end
        for i = 1, #gone, 1000 do redis.call('HDEL', key, unpack(gone, i, math.min(i + 999, #gone))) end
        swept = now
    end
    -- What the others have.
    if mine then
        permits, short, users = math.max(0, permits - mine), math.max(0, short - was_short), math.max(0, users - 1)
    else
        mine, turned = 0, 0
    end

    limit = change(limit, ARGV[at + 5], 10000) or own
    rate = change(rate, ARGV[at + 6], 100000000)
    if ARGV[at + 8] ~= '' then answered = math.max(answered or 0, now - (number(ARGV[at + 8], now) or now)) end
    local state = h[4] or ''
    local name, since, next_at, count = string.match(state, '^(%l+) (%d+) (%d+) (%d+)$')
    if ARGV[at + 7] ~= '' then
        local new, began, wait, times = string.match(ARGV[at + 7], '^(%l+) ?(%d*) ?(%d*) ?(%d*)$')
        if new == 'up' then
            name, state = 'up', 'up'
        elseif new then
            local until_at = now + (number(wait, 100000000000) or 0)
            if new == 'paused' and name == 'paused' then until_at = math.max(until_at, number(next_at, now + 100000000000) or 0) end
            name, since, next_at, count = new, now - (number(began, now) or 0), until_at, number(times, 1000) or 0
            state = string.format('%s %.0f %.0f %d', name, since, next_at, count)
        end
        version = version + 1
    end
    -- A host in trouble gets one request at a time, which tries whether it answers.
    local is_troubled = name == 'paused' or name == 'down' or name == 'slow'
    local bound = is_troubled and 1 or math.max(1, math.min(limit, cap))

    local given, is_short = 0, 0
    if wanted > 0 then
        users = users + 1
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
        redis.call('HSET', key, 'limit', limit, 'rate', rate or '', 'version', string.format('%.0f', version), 'state', state,
            'answered', answered and string.format('%.0f', answered) or '', 'permits', permits, 'short', short, 'users', users,
            'swept', string.format('%.0f', swept), me, string.format('%d %d %.0f %.0f', has, is_short, turned, now))
    else
        redis.call('HDEL', key, me)
        redis.call('HSET', key, 'limit', limit, 'rate', rate or '', 'version', string.format('%.0f', version), 'state', state,
            'answered', answered and string.format('%.0f', answered) or '', 'permits', permits, 'short', short, 'users', users,
            'swept', string.format('%.0f', swept))
    end
    if swept == now or wanted == 0 then redis.call('PEXPIRE', key, KEEP) end

    if is_troubled then
        state = string.format('%s %.0f %.0f %d', name, math.max(0, now - since), math.max(0, next_at - now), count)
    end
    for _, value in ipairs({given, users, short > 0 and 1 or 0, limit, rate or 0, version, state, answered and string.format('%.0f', now - answered) or ''}) do
        reply[#reply + 1] = value
    end
end
return reply
