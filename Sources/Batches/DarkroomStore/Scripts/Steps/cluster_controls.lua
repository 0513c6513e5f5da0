-- Included. Sets `version`, the number of the last change of a control, and `cluster`, the text that tells workers the controls
-- of the cluster: `flags,downloads,filtrations`. The flags are `s` suspended, `d` downloads suspended, `f` filtrations suspended.
-- `downloads` and `filtrations` are the limits, '' for no limit. Expects `prefix`.
local c = redis.call('HMGET', KEY_CONTROL, 'version', 'suspended', 'downloads.suspended', 'filtrations.suspended', LIMIT_FIELDS)
version = tonumber(c[1]) or 0
cluster = (c[2] == '1' and 's' or '') .. (c[3] == '1' and 'd' or '') .. (c[4] == '1' and 'f' or '') .. ',' .. (tonumber(c[5]) and c[5] or '') .. ',' .. (tonumber(c[6]) and c[6] or '')
