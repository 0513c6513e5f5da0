-- Included. Gives the folder `output` to the batch `id`. Sets `taken`, the number by which workers tell who took the folder last (see
-- FolderHolder.swift): larger than `seen`, the number found in the folder, and than all that Redis gave before, also after its
-- clock has gone back. Expects `prefix`, `now`, `output` and `seen`.
taken = math.max(now, (tonumber(redis.call('HGET', prefix .. 'control', 'taken')) or 0) + 1, seen + 1)
redis.call('HSET', prefix .. 'control', 'taken', taken)
redis.call('HSET', prefix .. 'outputs', output, id)
