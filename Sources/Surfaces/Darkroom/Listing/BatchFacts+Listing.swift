import DarkroomText

extension BatchFacts {
    /// The error for an incomplete list of photos or operations of the batch.
    /// - Parameter doing: The interrupted action: `its photos were listed`.
    /// - Parameter lacking: The number of photos without a state code in Redis.
    package func incompleteness(in client: DarkroomClient, _ doing: String, lacking: Int) throws -> DarkroomError {
        guard try client.store.facts(of: id) != nil else {
            return DarkroomError(
                .noSuchBatch, "list batch \(id)",
                "batch \(label) was forgotten while \(doing); the list is not complete")
        }
        return DarkroomError(
            .other, "list batch \(id)",
            "batch \(label) lost the states of \(HumanText.count(lacking, of: "photo")) while \(doing): Redis went back to an "
                + "earlier state, or is damaged; the list is not complete")
    }

    /// Throws if the batch is damaged, since its number of photos and its folders may then be wrong.
    package func requireSoundness() throws(DarkroomError) {
        guard !damage.isEmpty else { return }
        throw DarkroomError(
            .batchDamaged, "list batch \(id)",
            "batch \(label) is damaged in Redis (\(HumanText.list(damage))), so its photos and operations cannot be listed",
            (options.output.isEmpty ? [] : [.listPhotos(inOutput: options.output)]) + [.forget(id)])
    }
}
