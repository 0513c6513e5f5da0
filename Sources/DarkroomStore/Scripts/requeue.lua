-- Included. Puts `operation` of the batch `id`, which was executing, back into its queue, its downloaded photos as new
-- again; an operation whose letters are all final ends instead. The lease is the caller's to remove. `died` tells an
-- expired lease, which adds one death, from a hand-back, which costs nothing. Expects `prefix`, `now`, `key` and `b`:
-- the fields size, photos, count.downloaded, executing, operations, operations.ended, sealed, retain, operations.kept,
-- priority of the batch's hash, in this order. Sets `ended`.
local first = (operation - 1) * b[1]
local letters = redis.call('GETRANGE', key .. ':states', first, math.min(first + b[1], tonumber(b[2])) - 1)
local back, thrown = string.gsub(letters, 'D', 'N')
if thrown > 0 then redis.call('SETRANGE', key .. ':states', first, back) end
redis.call('HDEL', key .. ':executing', operation)
ended = not string.find(back, 'N', 1, true)
if ended then
    redis.call('HDEL', key .. ':deaths', operation)
    local kept = tonumber(b[9])
    if string.find(back, '%l') and kept < 10000 then
        kept = kept + 1
    else
        redis.call('HDEL', key .. ':operations', operation)
    end
    redis.call('HSET', key, 'count.downloaded', b[3] - thrown, 'executing', b[4] - 1, 'operations.ended', b[6] + 1, 'operations.kept', kept)
    if b[7] == '1' and b[6] + 1 == tonumber(b[5]) then
        local retain = tonumber(b[8])
--#include finish.lua
    end
else
    if died then redis.call('HINCRBY', key .. ':deaths', operation, 1) end
    redis.call('ZADD', key .. ':queue', operation, operation)
    redis.call('HSET', key, 'count.downloaded', b[3] - thrown, 'executing', b[4] - 1)
    local priority = b[10]
--#include ring.lua
end
