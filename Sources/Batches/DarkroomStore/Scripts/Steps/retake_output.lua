-- Included. Makes the batch `id` with the hash `key` the holder of its output folder again. If another batch has taken the folder
-- in the meantime, the script returns {'OUTPUT', batch id}, unless `overwrite` is true. Expects `prefix`, `now`, `seen` and
-- `overwrite`.
do
    local output, taken = redis.call('HGET', key, 'output'), nil
    if output and output ~= '' then
        local holder = redis.call('HGET', KEY_OUTPUTS, output)
        if holder and holder ~= id and not overwrite and redis.call('EXISTS', KEY_BATCH .. holder) == 1 then return {'OUTPUT', holder} end
        if holder ~= id or overwrite then
--#include take_output.lua
            redis.call('HSET', key, 'output.taken', taken)
        end
    end
end
