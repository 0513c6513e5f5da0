-- The expected type of each key of a batch.
local batch_key_types = {[''] = 'hash', [STATES] = 'string', [OPERATIONS] = 'hash', [QUEUE] = 'zset', [EXECUTING] = 'hash',
    [LEASE_EXPIRIES] = 'hash', [RETRIES] = 'hash', [FAILURES] = 'hash', [REASONS] = 'hash', [DEPENDENCIES] = 'set', [DEPENDENTS] = 'set'}
local has_types = {}
-- Returns the named fields of the batch with the hash `key`. Scripts use this step for batches whose ids the caller did not pass. If a key
-- of the batch has a wrong type, all values are nil: the batch counts as gone until a user forgets it, and does not disturb other batches.
-- A field that the batch does not have is false. The types of a batch are checked once in a run of a script, because no script creates a
-- key of a wrong type.
local function batch_fields(key, ...)
    if has_types[key] == nil then
        has_types[key] = true
        for suffix, wanted in pairs(batch_key_types) do
            local found = redis.call('TYPE', key .. suffix).ok
            if found ~= wanted and found ~= 'none' then has_types[key] = false end
        end
    end
    if has_types[key] then return unpack(redis.call('HMGET', key, ...)) end
end
