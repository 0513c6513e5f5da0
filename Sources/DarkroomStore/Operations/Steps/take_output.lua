-- Included. Gives the folder `output` to the batch `id`. Sets `taken`, which the script declares: of several batches, the one
-- with the largest such number has the folder (see FolderHolder.swift). The number is larger than `seen`, the number found in
-- the folder, and than all numbers that Redis gave before, even if the clock went back. Expects `prefix`, `now`, `output` and
-- `seen`.
taken = math.max(now, (tonumber(redis.call('HGET', KEY_CONTROL, 'taken')) or 0) + 1, seen + 1)
redis.call('HSET', KEY_CONTROL, 'taken', taken)
redis.call('HSET', KEY_OUTPUTS, output, id)
