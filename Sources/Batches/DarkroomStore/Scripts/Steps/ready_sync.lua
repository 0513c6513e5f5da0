--#include ready_add.lua

-- Adds the batch `id` to the ready queue of its priority if one of its operations can be claimed, and removes it from the queue
-- otherwise. `is_silent`: see ready_add.lua.
local function ready_sync(id, now, is_silent)
    local key = KEY_BATCH .. id
    local state, priority, cancelled, suspended, downloads_suspended, focus_first, focus_last, focus_only, size = unpack(
        redis.call('HMGET', key, 'state', 'priority', 'flag.cancelled', 'flag.suspended', 'flag.downloads.suspended', FOCUS_FIELDS, 'size'))
    priority = priority or 'normal'
    local can = (state == 'ready' or state == 'executing') and cancelled ~= '1' and suspended ~= '1' and downloads_suspended ~= '1'
    if can and focus_only == '1' then
        local first, last, size = tonumber(focus_first) or -1, tonumber(focus_last) or -1, tonumber(size) or 0
        can = first >= 0 and last >= 0 and size >= 1
            and redis.call('ZCOUNT', key .. QUEUE, math.floor(first / size) + 1, math.floor(last / size) + 1) > 0
    elseif can then
        can = redis.call('ZCOUNT', key .. QUEUE, CLAIMABLE) > 0
    end
    if can then ready_add(id, priority, now, is_silent) else redis.call('ZREM', KEY_READY .. priority, id) end
end
