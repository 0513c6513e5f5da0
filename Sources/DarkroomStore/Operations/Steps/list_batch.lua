-- Included. Adds the batch `id` with the hash `key` to the set of all batches, if a torn file lacks it there. Expects `prefix`.
if not redis.call('ZSCORE', KEY_BATCHES, id) then
    redis.call('ZADD', KEY_BATCHES, tonumber(redis.call('HGET', key, 'submitted')) or 0, id)
end
