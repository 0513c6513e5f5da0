// DarkroomRedis tests
