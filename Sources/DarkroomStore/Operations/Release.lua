#!lua flags=allow-oom
-- A worker hands an operation back that it will not go on with: queued again, no death.
-- KEYS[1] the prefix of every key, `{<namespace>}:`
-- ARGV[1] worker id  [2] fence  [3] batch id  [4] operation number  [5] '1': the worker refuses the batch, no hint is published
-- {'OK'}  {'GONE'}  {'LOST'} queued again or another's  {'ENDED', letters} its letters were all final
-- {'CANCELLED', letters} its batch is cancelled, so that it has ended; N and D are C then
--#include prelude.lua
local worker, fence, id, operation = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local key = KEY_BATCH .. id
ARGV.quiet = ARGV[5] == '1'
local b = redis.call('HMGET', key, REQUEUE_FIELDS)
local from, to, sound = 1, 8, nil
--#include check_batch.lua
if not b[10] or not sound then return {'GONE'} end
local holder = redis.call('HGET', key .. EXECUTING, operation)
local mine = worker .. ' ' .. fence .. ' '
local ended = not holder and operation <= tonumber(b[5]) and not redis.call('ZSCORE', key .. QUEUE, operation)
if holder and string.sub(holder, 1, #mine) == mine then
--#include now.lua
    local died = false
    redis.call('ZREM', KEY_LEASES, id .. '/' .. operation)
--#include requeue_operation.lua
    if not ended then
        redis.call('PUBLISH', CHANNEL_EVENTS, '{"event":"handedBack",' .. TIME_AND_BATCH .. ',"operation":' .. operation .. '}')
        return {'OK'}
    end
elseif holder or not ended and b[11] ~= '1' or operation > tonumber(b[5]) then
    return {'LOST'}
end
local letters = redis.call('GETRANGE', key .. STATES, (operation - 1) * b[1], math.min(operation * b[1], tonumber(b[2])) - 1)
if b[11] == '1' then return {'CANCELLED', (string.gsub(letters, '[ND]', 'C'))} end
return {'ENDED', letters}
