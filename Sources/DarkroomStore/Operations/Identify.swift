extension BatchStore {
    /// Returns the random number that identifies this namespace of this Redis; a Redis that lost its data has another number.
    package func identify() -> ScriptCall<Int> {
        call(StoreScripts.identify, [Int.random(in: 1...(1 << 52))]) { reply throws(StoreError) in
            guard reply.status == "OK" else { throw reply.unexpected }
            return try reply.int(1)
        }
    }
}
