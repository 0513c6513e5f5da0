extension BatchStore {
    /// Returns the random number that identifies the data in this namespace. If the data is lost, the number changes.
    package func identify() -> ScriptCall<Int> {
        call(\.identify, [Int.random(in: 1...(1 << 52))]) { reply throws(StoreError) in
            guard reply.status == "OK" else { throw reply.unexpected }
            return try reply.int(1)
        }
    }
}
