-- Publishes an event of the batch `id`. `facts` are further members of its JSON, nil for none.
local function publish_event(event, id, now, facts)
    redis.call('PUBLISH', CHANNEL_EVENTS, '{"event":"' .. event .. '","time":' .. now .. ',"batch":"' .. id .. '"'
        .. (facts and ',' .. facts or '') .. '}')
end
