#!lua flags=allow-oom
-- A worker says that it lives and renews what it holds; also sent with no worker, for the housekeeping alone.
-- KEYS[1] the prefix of every key, `{<namespace>}:`
-- ARGV[1] worker id, '' for none  [2] number of facts  [3...] field, value of each, then what the worker holds (see renew_leases.lua)
-- {'OK', lost, steering, letters, webhooks, more, turn, leftovers}
--     lost: batch id, operation number, fence, ... of what it no longer holds
--     steering: number of the last change, what holds for the cluster (see cluster_controls.lua), and for each batch that the worker
--     named and that is there its id and what holds for it (see batch_controls.lua)
--     letters: batch id, operation number, letters, ... of what it holds of batches in which photos were cancelled one by one
--     webhooks: member, time, URL, ... of up to 10 whose time has come
--     more: 1 when the housekeeping has more to do, so that another heartbeat at once is welcome
--     turn: that of the rings, which grows whenever a batch enters one
--     leftovers: batch id, operation number, fence: temporary files that a dead worker may have left under this fence or a lower one
--     are to be removed; empty when there are none. Nine times a worker is asked, a minute apart: not each sees the folder
--#include prelude.lua
local worker = ARGV[1]
--#include read_batch.lua
--#include clocks.lua
local at = 3 + 2 * ARGV[2]
if worker ~= '' and at > 3 then redis.call('HSET', KEY_WORKER .. worker, unpack(ARGV, 3, at - 1)) end
--#include renew_leases.lua
--#include maintenance.lua

local version, cluster
--#include cluster_controls.lua
local steerings, letters, webhooks = {version, cluster}, {}, {}
for _, batch in ipairs(named) do
    local id, numbers = batch[1], batch[2]
    local key = KEY_BATCH .. id
    local b = fields(key, 'state', 'size', 'photos', 'count.cancelled')
    if b[1] then
        local steering
--#include batch_controls.lua
        steerings[#steerings + 1] = id
        steerings[#steerings + 1] = steering
        if b[4] ~= '0' then
            local cancelled = string.find(steering, 'c', 1, true)
            for _, number in ipairs(numbers) do
                letters[#letters + 1] = id
                letters[#letters + 1] = tonumber(number)
                local text = redis.call('GETRANGE', key .. STATES, (number - 1) * b[2], math.min(number * b[2], tonumber(b[3])) - 1)
                letters[#letters + 1] = cancelled and string.gsub(text, '[ND]', 'C') or text
            end
        end
    end
end
local due = redis.call('ZRANGEBYSCORE', KEY_WEBHOOKS, '-inf', now, 'WITHSCORES', 'LIMIT', 0, 10)
for i = 1, #due, 2 do
    local url = fields(KEY_BATCH .. (string.match(due[i], '^(.*) %d+$') or ''), 'webhook')[1]
    if url then
        webhooks[#webhooks + 1] = due[i]
        webhooks[#webhooks + 1] = tonumber(due[i + 1])
        webhooks[#webhooks + 1] = url
    else
        redis.call('ZREM', KEY_WEBHOOKS, due[i])
    end
end
local leftovers, left = {}, worker ~= '' and redis.call('ZRANGEBYSCORE', KEY_LEFTOVERS, '-inf', now, 'LIMIT', 0, 1)[1]
if left then
    redis.call('ZREM', KEY_LEFTOVERS, left)
    local id, operation, fence, attempt = string.match(left, '^(%S+) (%d+) (%d+) ([1-9])$')
    if id then
        leftovers = {id, tonumber(operation), tonumber(fence)}
        if attempt ~= '9' then
            redis.call('ZADD', KEY_LEFTOVERS, now + 60000, id .. ' ' .. operation .. ' ' .. fence .. ' ' .. attempt + 1)
        end
    end
end
return {'OK', lost, steerings, letters, webhooks, more, tonumber(redis.call('HGET', KEY_CONTROL, 'turn') or 0), leftovers}
