-- Whether fields of a batch's hash are integers within their bounds (see StoredBounds.swift): the operation size, the number of photos,
-- and any other fields. If a field is not valid, the batch is damaged: the scripts that workers call treat the batch as gone until a user
-- forgets it, so that it does not disturb other batches.
local function is_valid_batch(size, photos, ...)
    local fields = {size, photos, ...}
    for i = 1, 2 + select('#', ...) do
        local number = tonumber(fields[i])
        if not (number and number >= 0 and number <= 9007199254740992 and number % 1 == 0) then return false end
    end
    size = tonumber(size)
    return size >= 1 and size <= 1000 and tonumber(photos) <= MOST_PHOTOS
end
