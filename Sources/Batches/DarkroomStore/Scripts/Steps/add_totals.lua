-- Adds numbers to the totals of the namespace. `totals` is a list of fields and numbers, which are at least 0. A total that another
-- program has damaged starts again, and so does a total of 2^53 or more, above which numbers of Lua are not exact.
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
