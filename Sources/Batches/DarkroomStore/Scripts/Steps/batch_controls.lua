-- Returns the text that tells workers the controls of the batch with the hash `key`: `rank,flags,first,last`. The rank is the
-- priority, from 0 (veryLow) to 4 (veryHigh). The flags are `c` cancelled, `s` suspended, `d` downloads suspended, `f` filtrations
-- suspended, `o` operations outside the focus wait. `first` and `last` are the focus, as photo indexes.
local function batch_controls(key)
    local priority, cancelled, suspended, downloads_suspended, filtrations_suspended, focus_first, focus_last, focus_only = unpack(
        redis.call('HMGET', key, 'priority', 'flag.cancelled', 'flag.suspended', 'flag.downloads.suspended', 'flag.filtrations.suspended',
            FOCUS_FIELDS))
    local focus, first, last = ',', tonumber(focus_first) or -1, tonumber(focus_last) or -1
    if first >= 0 and last >= first and last <= 9999999999 then focus = string.format('%.0f,%.0f', first, last) end
    local ranks = {veryLow = '0,', low = '1,', normal = '2,', high = '3,', veryHigh = '4,'}
    return (ranks[priority] or '2,') .. (cancelled == '1' and 'c' or '') .. (suspended == '1' and 's' or '')
        .. (downloads_suspended == '1' and 'd' or '') .. (filtrations_suspended == '1' and 'f' or '') .. (focus_only == '1' and 'o' or '')
        .. ',' .. focus
end
