-- Included by scripts that also read batches whose ids the caller did not pass. Declares `types`, the expected type of each key
-- of a batch, and `fields(key, ...)`, which returns the named fields of the batch whose hash is `key`. If a key of the batch has
-- a wrong type, the result is empty: the batch counts as gone until a user forgets it, and does not disturb other batches.
local types = {[''] = 'hash', [STATES] = 'string', [OPERATIONS] = 'hash', [QUEUE] = 'zset', [EXECUTING] = 'hash', [LEASE_EXPIRIES] = 'hash',
    [RETRIES] = 'hash', [FAILURES] = 'hash', [REASONS] = 'hash', [DEPENDENCIES] = 'set', [DEPENDENTS] = 'set'}
local function fields(key, ...)
    for suffix, wanted in pairs(types) do
        local found = redis.call('TYPE', key .. suffix).ok
        if found ~= wanted and found ~= 'none' then return {} end
    end
    return redis.call('HMGET', key, ...)
end
