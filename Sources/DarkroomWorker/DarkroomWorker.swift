// DarkroomWorker
