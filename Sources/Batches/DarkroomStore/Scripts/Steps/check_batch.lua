-- Included. Sets `is_valid`, a variable of the script: true if the fields `b[from]` to `b[to]` of a batch's hash are integers
-- within their bounds (see StoredBounds.swift). `b[from]` is the operation size, `b[from + 1]` the number of photos. If a field
-- is not valid, the batch is damaged: the scripts that workers call treat it as gone until a user forgets it, so that it does not
-- disturb other batches. Expects `b`, `from` and `to`.
is_valid = true
for i = from, to do
    local number = tonumber(b[i])
    is_valid = is_valid and number and number >= 0 and number <= 9007199254740992 and number % 1 == 0
end
if is_valid then
    local size = tonumber(b[from])
    is_valid = size >= 1 and size <= 1000 and tonumber(b[from + 1]) <= MOST_PHOTOS
end
