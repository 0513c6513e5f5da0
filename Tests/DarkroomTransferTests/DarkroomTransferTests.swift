// DarkroomTransfer tests
