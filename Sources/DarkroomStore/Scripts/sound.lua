-- Included. Sets `sound`, which the script declares: whether the fields `b[from]` to `b[to]` of a batch's hash, of which the first two are the size of its
-- operations and its photos, are whole numbers within their bounds (see StoredBounds.swift). A batch without sound numbers is
-- damaged. The scripts of workers treat it as gone, so that it hinders no other batch, until somebody forgets it.
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
