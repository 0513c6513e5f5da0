-- Adds a sample to the recent progress of the executing batch with the hash `key`. The field `pace` of the batch (see BatchPace.swift)
-- contains the time of the last sample, the number of done photos (filtered or failed) at that time, and the latest periods of work, the
-- newest first: `<time> <done> <ms> <photos> <ms> <photos> ...`. The periods cover at most 60 s. The field `worked` is the sum of all
-- periods, in ms.
--
-- The caller samples a batch only while photos of the batch run, or if photos have become done since the last sample. If more than
-- 10 s have passed since the last sample, the batch was paused in between, and this time does not count as work. `done` is the
-- number of done photos now. `elapsed` is the time since the start of the batch, which counts as work if there is no sample because
-- an earlier version has started the batch.
local function sample_pace(key, now, pace, worked, done, elapsed)
    local time, before, periods = string.match(#(pace or '') <= 1000 and pace or '', '^(%d+) (%d+)(.*)$')
    local passed = time and now - time
    if not time then
        redis.call('HSET', key, 'pace', string.format('%.0f %.0f', now, done), 'worked', string.format('%.0f', elapsed))
    elseif passed >= 2500 or passed < 0 or done < tonumber(before) then
        local kept, total = {string.format('%.0f %.0f', now, done)}, 0
        if passed >= 0 and passed <= 10000 and done >= tonumber(before) then
            periods = string.format(' %.0f %.0f', passed, done - before) .. periods
            redis.call('HSET', key, 'worked', string.format('%.0f', (tonumber(worked) or 0) + passed))
        end
        for ms, photos in string.gmatch(periods, ' (%d+) (%d+)') do
            total = total + ms
            if total > 60000 then break end
            kept[#kept + 1] = ms .. ' ' .. photos
        end
        redis.call('HSET', key, 'pace', table.concat(kept, ' '))
    end
end
