// DarkroomImaging
