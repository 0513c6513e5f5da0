#!lua
-- Reopens a batch whose list has grown: adds photos to a short last operation, and lets more operations be fed. A
-- finished batch begins a new round. Final state codes are kept, so photos that are final do not run again.
-- ROLES coordinator
-- KEYS[1] the prefix of every key, `{<namespace>}:`
-- ARGV[1] batch id  [2] operations  [3] photos  [4] digest of the feed: all three as they were when
--     the caller compared its list with them
--     [5] new number of photos of the last operation, 0 to leave it as it is  [6] its new entry
--     [7] digest of the feed with the new entry
-- {'OK'} reopened
-- {'GONE'} there is no such batch
-- {'CANCELLED'} the batch is cancelled
-- {'DIFFERS'} the feed in Redis differs from [2], [3] and [4]; nothing was written
-- {'OUTPUT', batch id} that batch has taken the output folder; nothing was written
-- {'BUSY'} the last operation is executing, or the dependents of the batch are being released: try again
--#include prelude.lua
--#include ready_sync.lua
--#include reopen_batch.lua
--#include retake_output.lua
--#include server_time.lua
local id, expected_operations, expected_photos, expected_digest, grown, entry, new_digest = unpack(ARGV)
local key = KEY_BATCH .. id
local state, cancelled, operations, photos, digest, size, ended, entries_kept = unpack(
    redis.call('HMGET', key, 'state', 'flag.cancelled', 'operations', 'photos', 'feed.digest', 'size', 'operations.ended', 'operations.kept'))
if not state then return {'GONE'} end
if cancelled == '1' then return {'CANCELLED'} end
if operations ~= expected_operations or photos ~= expected_photos or digest ~= expected_digest then return {'DIFFERS'} end
if redis.call('ZSCORE', KEY_RELEASES, id) then return {'BUSY'} end
local operation = tonumber(operations)
photos, size, grown = tonumber(photos), tonumber(size), tonumber(grown)
local first = (operation - 1) * size
if grown > 0 then
    if grown > size or first + grown <= photos then
        return redis.error_reply('ERR operation ' .. operation .. ' with ' .. (photos - first) .. ' photos cannot grow to ' .. grown .. ' of ' .. size)
    end
    if redis.call('HEXISTS', key .. EXECUTING, operation) == 1 then return {'BUSY'} end
end
local now = server_time()
local holder = retake_output(id, now, 0, false)
if holder then return {'OUTPUT', holder} end
if grown > 0 then
    if redis.call('ZADD', key .. QUEUE, operation, operation) == 1 then  -- the operation had ended
        local kept = redis.call('HEXISTS', key .. OPERATIONS, operation)
        redis.call('HSET', key, 'operations.ended', ended - 1, 'operations.kept', entries_kept - kept)
    end
    redis.call('HSET', key .. OPERATIONS, operation, entry)
    redis.call('SETRANGE', key .. STATES, photos, string.rep('N', first + grown - photos))
    redis.call('HSET', key, 'photos', first + grown, 'feed.digest', new_digest)
end
redis.call('HSET', key, 'sealed', 0, 'feeder.seen', now)
if state == 'finished' then reopen_batch(id, now) end
ready_sync(id, now)
return {'OK'}
