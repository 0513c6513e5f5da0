-- Returns the number of the last change of a control, and the text that tells workers the controls of the cluster:
-- `flags,downloads,filtrations`. The flags are `s` suspended, `d` downloads suspended, `f` filtrations suspended. `downloads` and
-- `filtrations` are the limits, '' for no limit.
local function cluster_controls()
    local version, suspended, downloads_suspended, filtrations_suspended, downloads_limit, filtrations_limit = unpack(
        redis.call('HMGET', KEY_CONTROL, 'version', 'suspended', 'downloads.suspended', 'filtrations.suspended', LIMIT_FIELDS))
    local flags = (suspended == '1' and 's' or '') .. (downloads_suspended == '1' and 'd' or '') .. (filtrations_suspended == '1' and 'f' or '')
    return tonumber(version) or 0, flags .. ',' .. (tonumber(downloads_limit) and downloads_limit or '') .. ','
        .. (tonumber(filtrations_limit) and filtrations_limit or '')
end
