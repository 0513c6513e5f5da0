-- Included by scripts that read batches which their caller did not name. Declares `types`, the type of each key of a batch,
-- and `fields(key, ...)`, which returns these fields of the batch with the hash `key`. If a key of the batch has a wrong type,
-- the result is empty: the batch counts as gone until a user forgets it, and does not disturb other batches.
local types = {[''] = 'hash', [STATES] = 'string', [OPERATIONS] = 'hash', [QUEUE] = 'zset', [EXECUTING] = 'hash', [LEASE_EXPIRIES] = 'hash',
    [FAILURES] = 'hash', [REASONS] = 'hash', [DEPENDENCIES] = 'set', [DEPENDENTS] = 'set'}
local function fields(key, ...)
    for suffix, wanted in pairs(types) do
        local found = redis.call('TYPE', key .. suffix).ok
        if found ~= wanted and found ~= 'none' then return {} end
    end
    return redis.call('HMGET', key, ...)
end
