-- Included. Lets the next change notice of the priority of the batch with the hash `key` be published at once, because a user
-- asked for the change. Expects `prefix`.
redis.call('HDEL', KEY_CONTROL, 'notified.' .. redis.call('HGET', key, 'priority'))
