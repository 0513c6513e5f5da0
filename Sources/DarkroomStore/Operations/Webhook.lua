#!lua flags=allow-oom
-- Moves the next attempt of a webhook, if it still stands where the caller saw it.
-- KEYS[1] the prefix of every key, `{<namespace>}:`
-- ARGV[1] member of `webhooks`  [2] its score as the caller saw it  [3] ms until the next attempt, '' when none is to follow
--     [4] '1': this takes it for an attempt, which is counted
-- {'OK', attempts, new score}  {'MOVED'} another worker has it, or it is done
local prefix, member = KEYS[1], ARGV[1]
local score = redis.call('ZSCORE', prefix .. 'webhooks', member)
if not score or tonumber(score) ~= tonumber(ARGV[2]) then return {'MOVED'} end
local id = string.match(member, '^(.*) %d+$')
local key = prefix .. 'batch:' .. id
local state = redis.call('HGET', key, 'state')
if ARGV[3] == '' or not state then
    redis.call('ZREM', prefix .. 'webhooks', member)
    if state == 'finished' then
--#include schedule_deletion.lua
    end
    return {'OK', 0, 0}
end
local clock = redis.call('TIME')
local next = clock[1] * 1000 + math.floor(clock[2] / 1000) + ARGV[3]
redis.call('ZADD', prefix .. 'webhooks', next, member)
return {'OK', redis.call('HINCRBY', key, 'webhook.attempts', ARGV[4]), next}
