-- Included. Sets `sound`, which the script declares: whether the fields `b[from]` to `b[to]` of a batch's hash are whole
-- numbers within their bounds (see StoredBounds.swift). `b[from]` is the size of its operations, `b[from + 1]` the number of
-- its photos. A batch with other numbers is damaged: the scripts of workers treat it as gone until a user forgets it, so that
-- it hinders no other batch.
-- Expects `b`, `from` and `to`.
sound = true
for i = from, to do
    local number = tonumber(b[i])
    sound = sound and number and number >= 0 and number <= 9007199254740992 and number % 1 == 0
end
if sound then
    local size = tonumber(b[from])
    sound = size >= 1 and size <= 1000 and tonumber(b[from + 1]) <= 536870912
end
