-- For each batch, Redis keeps the details of at most this many failures, and, for retries, the entries of at most this many ended
-- operations. The limit is 10,000. If the namespace has more than 100 batches, the limit is 1,000,000 divided by the number of batches, but
-- at least 100.
local function most_kept()
    return math.max(100, math.min(10000, math.floor(1000000 / redis.call('ZCARD', KEY_BATCHES))))
end
