// DarkroomModel
