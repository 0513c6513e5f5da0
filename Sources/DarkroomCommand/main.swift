DarkroomProgram.main()
