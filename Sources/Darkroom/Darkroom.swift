// What a Swift program needs to submit photo lists, to run workers and to see what became of each photo.
@_exported import DarkroomCoordinator
@_exported import DarkroomFileNames
@_exported import DarkroomExecution
@_exported import DarkroomImaging
@_exported import DarkroomLogging
@_exported import DarkroomModel
@_exported import DarkroomRedis
@_exported import DarkroomStore
@_exported import DarkroomTransfer
@_exported import DarkroomWorker
