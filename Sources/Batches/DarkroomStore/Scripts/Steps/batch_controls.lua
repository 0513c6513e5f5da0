-- Included. Sets `controls`, the text that tells workers the controls of the batch with the hash `key`: `rank,flags,first,last`.
-- The rank is the priority, from 0 (veryLow) to 4 (veryHigh). The flags are `c` cancelled, `s` suspended, `d` downloads
-- suspended, `f` filtrations suspended, `o` operations outside the focus wait. `first` and `last` are the focus, as photo
-- indexes.
local s = redis.call('HMGET', key, 'priority', 'flag.cancelled', 'flag.suspended', 'flag.downloads.suspended', 'flag.filtrations.suspended',
    FOCUS_FIELDS)
local focus, first, last = ',', tonumber(s[6]) or -1, tonumber(s[7]) or -1
if first >= 0 and last >= first and last <= 9999999999 then focus = string.format('%.0f,%.0f', first, last) end
local ranks = {veryLow = '0,', low = '1,', normal = '2,', high = '3,', veryHigh = '4,'}
controls = (ranks[s[1]] or '2,') .. (s[2] == '1' and 'c' or '') .. (s[3] == '1' and 's' or '') .. (s[4] == '1' and 'd' or '')
    .. (s[5] == '1' and 'f' or '') .. (s[8] == '1' and 'o' or '') .. ',' .. focus
