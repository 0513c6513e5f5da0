-- Returns the retention clock time at which the next deferred operation of the batch with the hash `key` is due, nil if there is none.
local function next_due(key)
    local _, score = unpack(redis.call('ZRANGEBYSCORE', key .. QUEUE, DEFERRED, '+inf', 'WITHSCORES', 'LIMIT', 0, 1))
    return score and score - DEFERRED
end
