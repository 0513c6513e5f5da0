import CSystem
import Darkroom

csystem_reserve_standard_files()
csystem_bound_heap()
// If a worker has started this process as its helper, this call runs the helper and never returns.
var helper = PhotoWorkerConfiguration()
helper.useThisProgramAsHelper(arguments: [])
DarkroomProgram.main()
