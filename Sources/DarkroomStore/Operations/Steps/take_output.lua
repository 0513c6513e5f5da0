-- Included. Gives the folder `output` to the batch `id`. Sets `taken`: the batch with the largest such number has the folder
-- (see FolderHolder.swift). It is larger than `seen`, the number found in the folder, and than all numbers that Redis gave
-- before, even if the clock has gone back. Expects `prefix`, `now`, `output` and `seen`, and that the script declares `taken`.
taken = math.max(now, (tonumber(redis.call('HGET', KEY_CONTROL, 'taken')) or 0) + 1, seen + 1)
redis.call('HSET', KEY_CONTROL, 'taken', taken)
redis.call('HSET', KEY_OUTPUTS, output, id)
