-- Included by scripts that also read batches whose ids the caller did not pass. Declares `types`, the expected type of each key
-- of a batch, and `fields(key, ...)`, which returns the named fields of the batch whose hash is `key`. If a key of the batch has
-- a wrong type, the result is empty: the batch counts as gone until a user forgets it, and does not disturb other batches. The
-- types of a batch are looked at once in a run of a script: no script creates a key of a wrong type.
local types = {[''] = 'hash', [STATES] = 'string', [OPERATIONS] = 'hash', [QUEUE] = 'zset', [EXECUTING] = 'hash', [LEASE_EXPIRIES] = 'hash',
    [RETRIES] = 'hash', [FAILURES] = 'hash', [REASONS] = 'hash', [DEPENDENCIES] = 'set', [DEPENDENTS] = 'set'}
local has_types = {}
local function fields(key, ...)
    if has_types[key] == nil then
        has_types[key] = true
        for suffix, wanted in pairs(types) do
            local found = redis.call('TYPE', key .. suffix).ok
            if found ~= wanted and found ~= 'none' then has_types[key] = false end
        end
    end
    return has_types[key] and redis.call('HMGET', key, ...) or {}
end
