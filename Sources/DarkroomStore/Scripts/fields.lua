-- Included at the head of scripts that look at batches their caller did not name. Declares `fields(key, ...)`: these fields of the
-- batch with the hash `key`. A batch of which a key has another type than Darkroom gives it has none: it counts as gone, so
-- that it hinders no other batch, until somebody forgets it.
local types = {[''] = 'hash', [':states'] = 'string', [':operations'] = 'hash', [':queue'] = 'zset', [':executing'] = 'hash', [':deaths'] = 'hash',
    [':failures'] = 'hash', [':reasons'] = 'hash', [':dependencies'] = 'set', [':dependents'] = 'set'}
local function fields(key, ...)
    for suffix, wanted in pairs(types) do
        local found = redis.call('TYPE', key .. suffix).ok
        if found ~= wanted and found ~= 'none' then return {} end
    end
    return redis.call('HMGET', key, ...)
end
