#!lua
-- Names this namespace of this Redis, for who has to tell it from others. A Redis that has lost everything gets another name.
-- KEYS[1] the prefix of every key, `{<namespace>}:`
-- ARGV[1] a random number, the name where it has none
-- {'OK', name}
local control = KEYS[1] .. 'control'
local name = tonumber(redis.call('HGET', control, 'id'))
if not name then
    name = tonumber(ARGV[1])
    redis.call('HSET', control, 'id', string.format('%.0f', name))
end
return {'OK', name}
