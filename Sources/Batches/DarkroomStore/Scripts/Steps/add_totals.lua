-- Adds numbers to the totals of the namespace. `totals` is a list of fields and numbers, which are at least 0. A total starts again if
-- another program has damaged it, or if it has reached 2^53: larger numbers are not exact in Lua.
local function add_totals(totals)
    for i = 1, #totals, 2 do
        local name, change = totals[i], totals[i + 1]
        if change > 0 then
            local number = string.format('%.0f', change)
            local reply = redis.pcall('HINCRBY', KEY_TOTALS, name, number)
            local is_damaged = type(reply) == 'table' or reply < change or reply >= 9007199254740992
            if is_damaged then redis.pcall('HSET', KEY_TOTALS, name, number) end
        end
    end
end
