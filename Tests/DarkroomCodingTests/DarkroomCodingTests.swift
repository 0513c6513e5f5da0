// DarkroomCoding tests
