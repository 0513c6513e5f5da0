#!lua flags=allow-oom
-- Makes every lease expired at once, for one who knows that no worker lives: the next claim or heartbeat puts the operations
-- back into their queues, one death each. 100 leases a call.
-- KEYS[1] the prefix of every key, `{<namespace>}:`
-- {'OK'} all are  {'MORE'} call again
--#include prelude.lua
local leases = redis.call('ZRANGEBYSCORE', KEY_LEASES, '(-1', '+inf', 'LIMIT', 0, 100)
for _, member in ipairs(leases) do redis.call('ZADD', KEY_LEASES, -1, member) end
return {#leases == 100 and 'MORE' or 'OK'}
