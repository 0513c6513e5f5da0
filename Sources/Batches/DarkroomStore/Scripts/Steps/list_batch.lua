-- Adds the batch `id` to the set of all batches, and, if it has not finished, to the set of the open batches. A torn file may lack these
-- members.
local function list_batch(id)
    local key = KEY_BATCH .. id
    if not redis.call('ZSCORE', KEY_BATCHES, id) then
        redis.call('ZADD', KEY_BATCHES, tonumber(redis.call('HGET', key, 'submitted')) or 0, id)
    end
    if not redis.pcall('ZSCORE', KEY_OPEN, id) and redis.call('HGET', key, 'state') ~= 'finished' then
        redis.call('ZADD', KEY_OPEN, tonumber(redis.call('HGET', key, 'submitted')) or 0, id)
    end
end
