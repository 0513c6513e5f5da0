// DarkroomPhotoServer
