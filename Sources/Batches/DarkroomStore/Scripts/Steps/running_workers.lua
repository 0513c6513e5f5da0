-- Returns the number of workers with a heartbeat or a claim in the last 30 s: an idle worker sends a heartbeat every 12 s.
local function running_workers(now) return redis.call('ZCOUNT', KEY_WORKERS, now - 30000, '+inf') end
