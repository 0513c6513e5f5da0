-- Included. Renews the leases of the operations that ARGV lists from position `at`: the number of batches, then for each batch
-- its id, the number of operations, and for each operation its number and fencing token. Sets `lost`: batch id, operation number,
-- fencing token, ... of each operation that `worker` does not hold with that token. Sets `still_held`: for each batch, its id and
-- the numbers of the operations that `worker` still holds. Expects `prefix`, `lease_clock` and `fields`.
local lost, still_held = {}, {}
local batches = tonumber(ARGV[at])
at = at + 1
for _ = 1, batches do
    local id, count = ARGV[at], tonumber(ARGV[at + 1])
    local key = KEY_BATCH .. id
    local b, from, to, is_valid = fields(key, 'size', 'photos', 'lease', 'state'), 1, 3, nil
--#include check_batch.lua
    local numbers, renewals, mine_still = {}, {}, {}
    for i = 1, count do numbers[i] = ARGV[at + 2 * i] end
    local holders = b[4] and is_valid and redis.call('HMGET', key .. EXECUTING, unpack(numbers)) or {}
    for i = 1, count do
        local mine = worker .. ' ' .. ARGV[at + 1 + 2 * i] .. ' '
        if holders[i] and string.sub(holders[i], 1, #mine) == mine then
            mine_still[#mine_still + 1] = numbers[i]
            renewals[#renewals + 1] = lease_clock + b[3]
            renewals[#renewals + 1] = id .. '/' .. numbers[i]
        else
            lost[#lost + 1] = id
            lost[#lost + 1] = tonumber(numbers[i])
            lost[#lost + 1] = tonumber(ARGV[at + 1 + 2 * i])
        end
    end
    if #renewals > 0 then redis.call('ZADD', KEY_LEASES, 'XX', unpack(renewals)) end
    still_held[#still_held + 1] = {id, mine_still}
    at = at + 2 + 2 * count
end
