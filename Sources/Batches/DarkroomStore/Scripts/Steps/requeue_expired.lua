--#include add_totals.lua
--#include batch_fields.lua
--#include requeue_operation.lua

-- Queues the operations whose leases have expired, and counts these leases. `expired` contains members of the set `leases`.
local function requeue_expired(expired, now, retention_clock)
    local leases_expired = 0
    for _, member in ipairs(expired) do
        redis.call('ZREM', KEY_LEASES, member)
        local id, number = string.match(member, '^(.*)/(%d+)$')
        local key, operation = KEY_BATCH .. (id or ''), tonumber(number)
        local facts = requeue_facts(batch_fields(key, REQUEUE_FIELDS))
        if can_requeue(facts) and operation <= tonumber(facts.operations) and redis.call('HEXISTS', key .. EXECUTING, number) == 1 then
            requeue_operation(id, operation, facts, now, retention_clock, true, 0)
            leases_expired = leases_expired + 1
        end
    end
    add_totals({'leases.expired', leases_expired})
end
