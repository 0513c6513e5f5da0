#!lua flags=allow-oom
-- Sets the time of the next attempt of a webhook, or removes the webhook. Does nothing if that time has changed
-- since the caller read it.
-- ROLES worker
-- KEYS[1] the prefix of every key, `{<namespace>}:`
-- ARGV[1] member of `webhooks`  [2] its score as the caller read it  [3] ms until the next attempt, '' if there is none
--     [4] '1': the caller begins an attempt, and the script counts it
-- {'OK', attempts, score}: the number of attempts so far, and the new score
-- {'MOVED'} another worker has taken the webhook, or it is removed
--#include prelude.lua
local member = ARGV[1]
local score = redis.call('ZSCORE', KEY_WEBHOOKS, member)
if not score or tonumber(score) ~= tonumber(ARGV[2]) then return {'MOVED'} end
local id = string.match(member, '^(.*) %d+$')
local key = KEY_BATCH .. id
local state = redis.call('HGET', key, 'state')
if ARGV[3] == '' or not state then
    redis.call('ZREM', KEY_WEBHOOKS, member)
    if state == 'finished' then
--#include schedule_deletion.lua
    end
    return {'OK', 0, 0}
end
--#include now.lua
local next = now + ARGV[3]
redis.call('ZADD', KEY_WEBHOOKS, next, member)
return {'OK', redis.call('HINCRBY', key, 'webhook.attempts', ARGV[4]), next}
