import CSystem
import Darkroom
import DarkroomWorker

csystem_reserve_standard_files()
csystem_bound_heap()
// Started by one of its own workers as their helper process it does nothing else.
var helper = WorkerConfiguration()
helper.useThisProgramAsHelper(arguments: [])
DarkroomProgram.main()
