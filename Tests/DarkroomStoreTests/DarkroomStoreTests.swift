// DarkroomStore tests
