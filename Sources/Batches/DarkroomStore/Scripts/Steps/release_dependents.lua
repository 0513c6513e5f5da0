-- Included. Releases at most 100 dependents of the batch `id`, which has finished or is being forgotten. A dependent that requires
-- success is cancelled if the batch was not successful. Sets `released`, which is true if no dependent is left. Expects `prefix`,
-- `now` and `fields`.
do
    local source = KEY_BATCH .. id
    local o = fields(source, 'flag.cancelled', 'count.failed', 'finished')
    local succeeded = o[1] ~= '1' and o[2] == '0' and o[3] and o[3] ~= ''
    local reason = id .. ' did not succeed'
    local waiting = redis.call('TYPE', source .. DEPENDENTS).ok == 'set' and redis.call('SRANDMEMBER', source .. DEPENDENTS, 100) or {}
    for _, dependent in ipairs(waiting) do
        local awaited = id
        local id, key = dependent, KEY_BATCH .. dependent
        redis.call('SREM', source .. DEPENDENTS, id)
        local d = fields(key, 'state', 'after.success')
        if d[1] then redis.call('SREM', key .. DEPENDENCIES, awaited) end
        if d[1] == 'waiting' then
            local left = redis.call('SCARD', key .. DEPENDENCIES)
            redis.call('PUBLISH', CHANNEL_EVENTS, '{"event":"dependencies",' .. TIME_AND_BATCH .. ',"value":' .. left .. '}')
            if d[2] == '1' and not succeeded then
--#include cancel_batch.lua
            elseif left == 0 then
--#include mark_ready.lua
            end
        end
    end
    released = #waiting < 100
end
