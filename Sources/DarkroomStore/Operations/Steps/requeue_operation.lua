-- Included. Puts `operation` of the batch `id`, which was executing, back into its queue, its downloaded photos as new
-- again unless their originals are kept; an operation whose letters are all final, none of them C where the batch writes files,
-- or whose batch is cancelled, ends instead.
-- The lease is the caller's to remove. `died` tells an expired lease from a hand-back, which costs nothing. An expired lease adds
-- one death; from two on only when its worker had said that something of it begins, and not that it is over: who was only held, or
-- has ended a photo, is not condemned by what others die of.
-- Expects `prefix`, `now`, `key` and `b`: the fields size, photos, count.downloaded, executing, operations,
-- operations.ended, sealed, operations.kept, originals, state, flag.cancelled, focus.only, output of the batch's hash, in this
-- order. Sets `ended`. What a dead worker may have left in the folder of a cancelled batch is noted in `leftovers`, at most 1,000 times:
-- no claim of the operation will remove it.
local first = (operation - 1) * b[1]
local back = redis.call('GETRANGE', key .. STATES, first, math.min(first + b[1], tonumber(b[2])) - 1)
local thrown, cancelled = 0, b[11] == '1'
if not cancelled and (not b[9] or b[9] == '') then
    back, thrown = string.gsub(back, 'D', 'N')
    if thrown > 0 then redis.call('SETRANGE', key .. STATES, first, back) end
end
local holder = died and redis.call('HGET', key .. EXECUTING, operation)
redis.call('HDEL', key .. EXECUTING, operation)
-- A photo that was cancelled alone may have no line in the manifest yet: the next worker writes it.
ended = cancelled or not string.find(back, b[13] == '' and '[ND]' or '[NDC]')
local left_by = cancelled and holder and (b[13] or '') ~= '' and string.match(holder, '^%S+ (%d+) ')
if left_by then
    redis.call('ZADD', KEY_LEFTOVERS, now, id .. ' ' .. operation .. ' ' .. left_by .. ' 1')
    redis.call('ZREMRANGEBYRANK', KEY_LEFTOVERS, 0, -1001)
end
if ended then
    redis.call('HDEL', key .. DEATHS, operation)
    local kept = tonumber(b[8])
    if not cancelled and string.find(back, '%l') and kept < MOST_ENTRIES_KEPT then
        kept = kept + 1
    else
        redis.call('HDEL', key .. OPERATIONS, operation)
    end
    redis.call('HSET', key, 'count.downloaded', b[3] - thrown, 'executing', b[4] - 1, 'operations.ended', b[6] + 1, 'operations.kept', kept)
    redis.call('PUBLISH', CHANNEL_EVENTS, '{"event":"ended",' .. TIME_AND_BATCH .. ',"operation":' .. operation .. '}')
    if cancelled and b[4] == '1' or not cancelled and b[7] == '1' and b[6] + 1 == tonumber(b[5]) then
--#include finish_batch.lua
    end
else
    redis.call('HSET', key, 'count.downloaded', b[3] - thrown, 'executing', b[4] - 1)
    redis.call('ZADD', key .. QUEUE, operation, operation)
    if died then
        local deaths = redis.call('HGET', key .. DEATHS, operation) or ''
        deaths = string.find(deaths, '^%d+$') and math.min(tonumber(deaths), 1000000) or 0  -- what is no number counts as 0
        if deaths < 2 or string.find(holder, ' begun$') then
            deaths = deaths + 1
            redis.call('HSET', key .. DEATHS, operation, deaths)
        end
        redis.call('PUBLISH', CHANNEL_EVENTS, '{"event":"recovered",' .. TIME_AND_BATCH .. ',"operation":' .. operation .. ',"deaths":' .. deaths .. '}')
    end
    if b[5] - b[6] - b[4] == 0 or b[12] == '1' then  -- the queue was empty, or some of it may be out of focus
--#include ready_sync.lua
    end
end
