import CSystem
import Darkroom
import DarkroomWorker

csystem_reserve_standard_files()
csystem_bound_heap()
// If a worker has started this process as its helper, this call runs the helper and never returns.
var helper = WorkerConfiguration()
helper.useThisProgramAsHelper(arguments: [])
DarkroomProgram.main()
