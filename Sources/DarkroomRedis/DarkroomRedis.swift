// DarkroomRedis
