-- Included. Adds numbers to the totals of the namespace. `totals` is a list of fields and numbers, which are at least 0. A total
-- that another program has damaged starts again, and so does a total of 2^53 or more, above which numbers of Lua are not exact.
-- Expects `prefix` and `totals`.
for i = 1, #totals, 2 do
    if totals[i + 1] > 0 then
        local number = string.format('%.0f', totals[i + 1])
        local reply = redis.pcall('HINCRBY', KEY_TOTALS, totals[i], number)
        local is_damaged = type(reply) == 'table' or reply < totals[i + 1] or reply >= 9007199254740992
        if is_damaged then redis.pcall('HSET', KEY_TOTALS, totals[i], number) end
    end
end
