--#include batch_fields.lua
--#include cancel_batch.lua
--#include mark_ready.lua
--#include publish_event.lua

-- Releases at most 100 dependents of the batch `id`, which has finished or is being forgotten. A dependent that requires success is
-- cancelled if the batch was not successful. Returns true if no dependent is left.
local function release_dependents(id, now)
    local key = KEY_BATCH .. id
    local cancelled, failed, finished = batch_fields(key, 'flag.cancelled', 'count.failed', 'finished')
    local succeeded = cancelled ~= '1' and failed == '0' and finished and finished ~= ''
    local waiting = redis.call('TYPE', key .. DEPENDENTS).ok == 'set' and redis.call('SRANDMEMBER', key .. DEPENDENTS, 100) or {}
    for _, dependent in ipairs(waiting) do
        local dependent_key = KEY_BATCH .. dependent
        redis.call('SREM', key .. DEPENDENTS, dependent)
        local state, after_success = batch_fields(dependent_key, 'state', 'after.success')
        if state then redis.call('SREM', dependent_key .. DEPENDENCIES, id) end
        if state == 'waiting' then
            local left = redis.call('SCARD', dependent_key .. DEPENDENCIES)
            publish_event('dependencies', dependent, now, '"value":' .. left)
            if after_success == '1' and not succeeded then
                cancel_batch(dependent, id .. ' did not succeed', now)
            elseif left == 0 then
                mark_ready(dependent, now)
            end
        end
    end
    return #waiting < 100
end
