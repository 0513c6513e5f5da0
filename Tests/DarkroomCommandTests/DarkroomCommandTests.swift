// DarkroomCommand tests
