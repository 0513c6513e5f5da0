import DarkroomRedis

extension BatchStore {
    /// Does one bounded step of what a worker's heartbeats do for others, so that what waits for that comes to its end also when
    /// no worker lives. A user of Redis who may only read leaves it to those who may.
    /// - Returns: true when there is more of it to do.
    public func keepHouse() throws(StoreError) -> Bool {
        do {
            return try perform(heartbeat(worker: nil)).hasMore
        } catch {
            guard error.redis?.serverErrorName == "NOPERM" else { throw error }
            return false
        }
    }
}
