-- Gives the folder `output` to the batch `id`. The batch with the largest number in its field `output.taken` holds the folder (see
-- FolderHolder.swift). The number is larger than `seen`, which the caller found in the folder, and larger than all earlier numbers, even
-- if the clock of the server was set back.
local function take_output(id, output, now, seen)
    local taken = math.max(now, (tonumber(redis.call('HGET', KEY_CONTROL, 'taken')) or 0) + 1, seen + 1)
    redis.call('HSET', KEY_CONTROL, 'taken', taken)
    redis.call('HSET', KEY_OUTPUTS, output, id)
    redis.call('HSET', KEY_BATCH .. id, 'output.taken', taken)
end
