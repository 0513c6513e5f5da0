-- Included. What a user asks for is not held back by what was hinted a moment ago: the next "work available" of the priority
-- of the batch with the hash `key` is published at once. Expects `prefix`.
redis.call('HDEL', KEY_CONTROL, 'hinted.' .. redis.call('HGET', key, 'priority'))
