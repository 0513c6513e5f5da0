#!lua flags=allow-oom
-- Sets the time of the next attempt to call a webhook, or removes the webhook. Does nothing if that time has changed since the caller read
-- it.
-- ROLES worker
-- KEYS[1] the prefix of every key, `{<namespace>}:`
-- ARGV[1] member of `webhooks`  [2] its score as the caller read it  [3] ms until the next attempt, '' if there is none
--     [4] '1': the caller begins an attempt, and the script counts it
-- {'OK', attempts, score}: the number of attempts so far, and the new score
-- {'MOVED'} another worker has taken the webhook, or it is removed
--#include prelude.lua
--#include schedule_deletion.lua
--#include server_time.lua
local member, expected_score, delay, attempt = unpack(ARGV)
local score = redis.call('ZSCORE', KEY_WEBHOOKS, member)
if not score or tonumber(score) ~= tonumber(expected_score) then return {'MOVED'} end
local id = string.match(member, '^(.*) %d+$')
local key = KEY_BATCH .. id
local state = redis.call('HGET', key, 'state')
if delay == '' or not state then
    redis.call('ZREM', KEY_WEBHOOKS, member)
    if state == 'finished' then schedule_deletion(id) end
    return {'OK', 0, 0}
end
local next_attempt = server_time() + delay
redis.call('ZADD', KEY_WEBHOOKS, next_attempt, member)
return {'OK', redis.call('HINCRBY', key, 'webhook.attempts', attempt), next_attempt}
