--#include batch_fields.lua
--#include is_valid_batch.lua

-- Renews the leases of the operations that ARGV lists from position `at`: the number of batches, then for each batch its id, the number of
-- operations, and for each operation its number and fencing token. Returns `lost`: batch id, operation number, fencing token, ... of each
-- operation that `worker` does not hold with that token. Also returns `still_held`: for each batch, its id and the numbers of the
-- operations that `worker` still holds.
local function renew_leases(worker, at, lease_clock)
    local lost, still_held = {}, {}
    local batches = tonumber(ARGV[at])
    at = at + 1
    for _ = 1, batches do
        local id, count = ARGV[at], tonumber(ARGV[at + 1])
        local key = KEY_BATCH .. id
        local size, photos, lease, state = batch_fields(key, 'size', 'photos', 'lease', 'state')
        local is_valid = is_valid_batch(size, photos, lease)
        local numbers, renewals, mine_still = {}, {}, {}
        for i = 1, count do numbers[i] = ARGV[at + 2 * i] end
        local holders = state and is_valid and redis.call('HMGET', key .. EXECUTING, unpack(numbers)) or {}
        for i = 1, count do
            local number, holder, token = numbers[i], holders[i], ARGV[at + 1 + 2 * i]
            local mine = worker .. ' ' .. token .. ' '
            if holder and string.sub(holder, 1, #mine) == mine then
                mine_still[#mine_still + 1] = number
                renewals[#renewals + 1] = lease_clock + lease
                renewals[#renewals + 1] = id .. '/' .. number
            else
                lost[#lost + 1] = id
                lost[#lost + 1] = tonumber(number)
                lost[#lost + 1] = tonumber(token)
            end
        end
        if #renewals > 0 then redis.call('ZADD', KEY_LEASES, 'XX', unpack(renewals)) end
        still_held[#still_held + 1] = {id = id, numbers = mine_still}
        at = at + 2 + 2 * count
    end
    return lost, still_held
end
