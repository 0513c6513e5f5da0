#!lua
-- Feeds one operation: writes its entry and state codes, and updates the counters and the ready queue. If the operation is not
-- fed, nothing is written.
-- ROLES coordinator
-- KEYS[1] the prefix of every key, `{<namespace>}:`
-- ARGV[1] batch id  [2] operation number  [3] photos in it  [4] entry (version byte, deflated lines)
--     [5] digest of the feed up to and including this operation (hexadecimal)
-- {'OK'} fed
-- {'GONE'} there is no such batch
-- {'EXPECT', n} the next operation to feed is number n
-- {'SEALED'} the batch is sealed
-- {'SHORT'} the previous operation has fewer photos than the operation size, so no operation can follow it
-- {'FULL'} the number of operations that have not ended has reached the feed window: try again later
-- {'CANCELLED'} the batch is cancelled
--#include prelude.lua
--#include list_batch.lua
--#include server_time.lua
-- A longer time between two operations counts as this time, in ms.
local MOST_STARVED = 60000
local id, number, photos, entry, digest = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4], ARGV[5]
local key = KEY_BATCH .. id
local state, operations, photos_before, size, sealed, window, ended, executing, cancelled, focus_only, feeder_seen, starved = unpack(
    redis.call('HMGET', key, 'state', 'operations', 'photos', 'size', 'sealed', 'window', 'operations.ended', 'executing',
        'flag.cancelled', 'focus.only', 'feeder.seen', 'starved'))
if not state then return {'GONE'} end
if cancelled == '1' then return {'CANCELLED'} end
if sealed == '1' then return {'SEALED'} end
operations, size = tonumber(operations), tonumber(size)
if number ~= operations + 1 then return {'EXPECT', operations + 1} end
if tonumber(photos_before) ~= operations * size then return {'SHORT'} end
if photos < 1 or photos > size then return redis.error_reply('ERR an operation of ' .. photos .. ' photos, 1 to ' .. size .. ' are allowed') end
local now = server_time()
if operations - ended >= tonumber(window) then
    redis.call('HSET', key, 'feeder.seen', now)
    return {'FULL'}
end
redis.call('HSET', key .. OPERATIONS, number, entry)
redis.call('SETRANGE', key .. STATES, operations * size, string.rep('N', photos))
redis.call('ZADD', key .. QUEUE, number, number)
list_batch(id)
redis.call('HSET', key, 'operations', number, 'photos', photos_before + photos, 'feed.digest', digest, 'feeder.seen', now)
if operations > 0 and operations - ended - executing == 0 then  -- the queue was empty since the last operation was claimed
    local passed = math.max(0, math.min(now - (tonumber(feeder_seen) or now), MOST_STARVED))
    redis.call('HSET', key, 'starved', string.format('%.0f', (tonumber(starved or '') or 0) + passed))
end
if focus_only == '1' or redis.call('ZCOUNT', key .. QUEUE, CLAIMABLE) == 1 then  -- no other operation can be claimed
    --#include ready_sync.lua
    ready_sync(id, now)
end
return {'OK'}
