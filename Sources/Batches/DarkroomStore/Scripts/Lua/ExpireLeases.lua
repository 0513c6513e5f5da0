#!lua flags=allow-oom
-- Makes leases expire at once, for a caller that has made sure that no worker is running. The next claims or heartbeats queue
-- the operations again, and count one lease expiry for each operation. One call handles at most 100 leases.
-- ROLES coordinator
-- KEYS[1] the prefix of every key, `{<namespace>}:`
-- {'OK'} every lease has expired
-- {'MORE'} call again
--#include prelude.lua
local leases = redis.call('ZRANGEBYSCORE', KEY_LEASES, '(-1', '+inf', 'LIMIT', 0, 100)
for _, member in ipairs(leases) do redis.call('ZADD', KEY_LEASES, -1, member) end
return {#leases == 100 and 'MORE' or 'OK'}
