-- The number of photos in the queued operations of the batches that are in ready queues. The last operation of a batch counts as a full
-- one; at most 200 batches of each priority are counted.
local function queued_photos()
    local queued = 0
    for _, priority in ipairs({PRIORITIES}) do
        for _, id in ipairs(redis.call('ZRANGE', KEY_READY .. priority, 0, 199)) do
            -- A damaged batch counts with 0 photos.
            local operations, size = redis.pcall('ZCARD', KEY_BATCH .. id .. QUEUE), redis.pcall('HGET', KEY_BATCH .. id, 'size')
            local number = type(size) == 'string' and tonumber(size) or 0
            if type(operations) == 'number' and number >= 1 and number <= 1000 then queued = queued + operations * number end
        end
    end
    return queued
end

-- Every 10 s, adds a sample to the history of the last hour: the time, the totals, and the number of queued photos. Returns true if this
-- call added a sample.
local function sample_history(now)
    local sampled = tonumber(redis.call('HGET', KEY_CONTROL, 'history.sampled') or '')
    local is_due = not (sampled and math.abs(now - sampled) < 10000)  -- also if another program has stored "nan"
    if not is_due then return false end
    redis.call('HSET', KEY_CONTROL, 'history.sampled', now)
    local queued = queued_photos()
    local totals, sample = redis.pcall('HMGET', KEY_TOTALS, TOTAL_FIELDS), {string.format('%.0f', now)}
    for i = 1, #{TOTAL_FIELDS} do
        local total = totals[i] or '0'
        sample[#sample + 1] = #total <= 16 and string.find(total, '^%d+$') and total or '0'
    end
    sample[#sample + 1] = string.format('%.0f', queued)
    -- Removes old samples, and samples in the future, which were taken before the clock of the server was set back.
    for _, range in ipairs({{from = '-inf', to = now - 3600000}, {from = '(' .. now, to = '+inf'}}) do
        local outside = redis.pcall('ZRANGEBYSCORE', KEY_HISTORY, range.from, range.to, 'LIMIT', 0, 500)
        if outside.err then
            redis.call('UNLINK', KEY_HISTORY)
        elseif #outside > 0 then
            redis.call('ZREM', KEY_HISTORY, unpack(outside))
        end
    end
    redis.call('ZADD', KEY_HISTORY, now, table.concat(sample, ' '))
    return true
end
