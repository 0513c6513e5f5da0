#!lua
-- Returns the number that identifies the data of this namespace in this Redis server. If the server loses its data, the number
-- changes.
-- ROLES coordinator
-- KEYS[1] the prefix of every key, `{<namespace>}:`
-- ARGV[1] a random number, used if the namespace has no number
-- {'OK', number}
--#include prelude.lua
local random, name = ARGV[1], tonumber(redis.call('HGET', KEY_CONTROL, 'id'))
if not name or name < 1 or name > 4503599627370496 or name % 1 ~= 0 then
    name = tonumber(random)
    redis.call('HSET', KEY_CONTROL, 'id', string.format('%.0f', name))
end
return {'OK', name}
