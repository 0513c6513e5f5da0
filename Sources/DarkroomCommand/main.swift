import CSystem

csystem_bound_heap()
DarkroomProgram.main()
