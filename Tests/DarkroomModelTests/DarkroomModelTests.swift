// DarkroomModel tests
