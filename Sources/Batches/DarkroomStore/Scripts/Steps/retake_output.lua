--#include take_output.lua

-- Makes the batch `id` the holder of its output folder again. If another batch holds the folder, returns the id of that batch and does
-- nothing, unless `overwrite` is true. `seen`: see take_output.lua.
local function retake_output(id, now, seen, overwrite)
    local key = KEY_BATCH .. id
    local output = redis.call('HGET', key, 'output')
    if not output or output == '' then return nil end
    local holder = redis.call('HGET', KEY_OUTPUTS, output)
    if holder and holder ~= id and not overwrite and redis.call('EXISTS', KEY_BATCH .. holder) == 1 then return holder end
    if holder ~= id or overwrite then take_output(id, output, now, seen) end
    return nil
end
