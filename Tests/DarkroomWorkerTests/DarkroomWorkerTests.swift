// DarkroomWorker tests
