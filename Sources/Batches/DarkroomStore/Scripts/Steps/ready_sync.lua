-- Included. Adds the batch `id` with the hash `key` to the ready queue of its priority if one of its operations can be claimed,
-- and removes it from the queue otherwise. Expects `prefix` and `now`.
do
    local s = redis.call('HMGET', key, 'state', 'priority', 'flag.cancelled', 'flag.suspended', 'flag.downloads.suspended',
        FOCUS_FIELDS, 'size')
    local priority = s[2] or 'normal'
    local can = (s[1] == 'ready' or s[1] == 'executing') and s[3] ~= '1' and s[4] ~= '1' and s[5] ~= '1'
    if can and s[8] == '1' then
        local first, last, size = tonumber(s[6]) or -1, tonumber(s[7]) or -1, tonumber(s[9]) or 0
        can = first >= 0 and last >= 0 and size >= 1
            and redis.call('ZCOUNT', key .. QUEUE, math.floor(first / size) + 1, math.floor(last / size) + 1) > 0
    elseif can then
        can = redis.call('ZCOUNT', key .. QUEUE, CLAIMABLE) > 0
    end
    if can then
--#include ready_add.lua
    else
        redis.call('ZREM', KEY_READY .. priority, id)
    end
end
