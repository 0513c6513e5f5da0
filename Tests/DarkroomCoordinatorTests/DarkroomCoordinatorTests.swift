// DarkroomCoordinator tests
