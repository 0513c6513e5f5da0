import DarkroomText

extension ClusterStatus {
    /// The facts of the cluster for users: `darkroom status` and the page of the cluster.
    package var sheet: FactSheet {
        var sheet = FactSheet()
        sheet.add("redis", "\(location), namespace \(location.keys.namespace)")
        let states = Self.states.map { "\(HumanText.count(count($0))) \($0.rawValue)" }
        sheet.add("batches", states.joined(separator: ", "))
        sheet.add(
            "photos",
            "\(HumanText.count(counts.new + counts.downloaded)) to do, \(HumanText.count(counts.filtered)) filtered, "
                + "\(HumanText.count(counts.failed)) failed in batches that have not finished")
        sheet.add("operations", "\(HumanText.count(queued)) queued, \(HumanText.count(executing)) executing")
        sheet.add("workers", HumanText.count(workers.count))
        if let suspended = controls.suspendedText { sheet.add("cluster", suspended) }
        if let limits = controls.limitsText { sheet.add("limits", limits) }
        sheet.add("running", "\(total("downloading")) downloads, \(total("filtering")) filtrations")
        if let waiting = hosts.waitText { sheet.add("waiting", waiting) }
        sheet.add("rate", HumanText.rate(Double(total("rate"))))
        return sheet
    }
}
