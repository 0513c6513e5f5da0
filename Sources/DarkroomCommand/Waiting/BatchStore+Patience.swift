import Darkroom
import Foundation

extension BatchStore {
    /// Reads something, again and again while Redis is away, for as long as a feeder waits for it.
    /// - Throws: what Redis refuses, or after that time that it is away.
    func patiently<Value>(_ read: (BatchStore) throws(StoreError) -> Value) throws(StoreError) -> Value {
        let deadline = ContinuousClock.now + .seconds(300)
        while true {
            do throws(StoreError) {
                return try read(self)
            } catch {
                guard error.isPassing, ContinuousClock.now < deadline else { throw error }
            }
            // Redis has no signal for a client to wait for that also survives its restarts.
            Thread.sleep(forTimeInterval: 0.1)
        }
    }
}
