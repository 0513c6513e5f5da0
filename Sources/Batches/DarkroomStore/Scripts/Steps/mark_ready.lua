--#include finish_batch.lua
--#include publish_event.lua
--#include ready_sync.lua

-- Marks the batch `id`, which has no dependencies left, as ready. If all its operations have ended, finishes it instead.
-- `is_repaired`: see finish_batch.lua.
local function mark_ready(id, now, is_repaired)
    local key = KEY_BATCH .. id
    redis.call('HSET', key, 'state', 'ready')
    publish_event('isReady', id, now, '"value":true')
    local sealed, operations, ended = unpack(redis.call('HMGET', key, 'sealed', 'operations', 'operations.ended'))
    if sealed == '1' and operations == ended then finish_batch(id, now, is_repaired) else ready_sync(id, now) end
end
