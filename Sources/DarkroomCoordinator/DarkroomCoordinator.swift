// DarkroomCoordinator
