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
local id = ARGV[1]
local key = KEY_BATCH .. id
local b = redis.call('HMGET', key, 'state', 'flag.cancelled', 'operations', 'photos', 'feed.digest', 'size', 'operations.ended', 'operations.kept')
if not b[1] then return {'GONE'} end
if b[2] == '1' then return {'CANCELLED'} end
if b[3] ~= ARGV[2] or b[4] ~= ARGV[3] or b[5] ~= ARGV[4] then return {'DIFFERS'} end
if redis.call('ZSCORE', KEY_RELEASES, id) then return {'BUSY'} end
local operation, photos, size, grown = tonumber(b[3]), tonumber(b[4]), tonumber(b[6]), tonumber(ARGV[5])
--#include now.lua
if grown > 0 then
    local first = (operation - 1) * size
    if grown > size or first + grown <= photos then
        return redis.error_reply('ERR operation ' .. operation .. ' with ' .. (photos - first) .. ' photos cannot grow to ' .. grown .. ' of ' .. size)
    end
    if redis.call('HEXISTS', key .. EXECUTING, operation) == 1 then return {'BUSY'} end
end
local overwrite, seen = false, 0
--#include retake_output.lua
if grown > 0 then
    local first = (operation - 1) * size
    if redis.call('ZADD', key .. QUEUE, operation, operation) == 1 then  -- the operation had ended
        local kept = redis.call('HEXISTS', key .. OPERATIONS, operation)
        redis.call('HSET', key, 'operations.ended', b[7] - 1, 'operations.kept', b[8] - kept)
    end
    redis.call('HSET', key .. OPERATIONS, operation, ARGV[6])
    redis.call('SETRANGE', key .. STATES, photos, string.rep('N', first + grown - photos))
    redis.call('HSET', key, 'photos', first + grown, 'feed.digest', ARGV[7])
end
redis.call('HSET', key, 'sealed', 0, 'feeder.seen', now)
if b[1] == 'finished' then
--#include reopen_batch.lua
end
--#include ready_sync.lua
return {'OK'}
