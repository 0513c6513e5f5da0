--#include batch_fields.lua
--#include forget_step.lua

-- Does one step of forgetting the batch `id`, whose retention is over. Returns false if there is more to do.
local function forget_expired(id, now, retention_clock)
    local state, expires = batch_fields(KEY_BATCH .. id, 'state', 'expires')
    local left = state and (tonumber(expires) or 0) - retention_clock or 0
    if left > 0 then  -- the clock has jumped: the batch was not retained for its full time
        redis.call('ZADD', KEY_EXPIRING, now + left, id)
        return true
    end
    return forget_step(id, now)
end
