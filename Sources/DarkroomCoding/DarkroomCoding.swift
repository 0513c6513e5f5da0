// DarkroomCoding
