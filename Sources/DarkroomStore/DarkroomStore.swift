// DarkroomStore
