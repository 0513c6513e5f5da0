// DarkroomTransfer
