// DarkroomImaging tests
