import CSystem

csystem_reserve_standard_files()
csystem_bound_heap()
BenchProgram.main()
