import DarkroomModel

/// A source of the photos of a batch, which can be read more than once.
package protocol PhotoListSource {
    /// Passes the entries of the list to `receive`, in order. Stops soon after `receive` has returned false. Blocks.
    func read(_ receive: (ListEntry) -> Bool) throws

    /// Goes back to the beginning, so that the list can be read again.
    func rewind() throws
}

extension PhotoListSource {
    /// Passes the list's entries to `receive` in order, until `receive` returns false or throws.
    package func forEach(_ receive: (ListEntry) throws -> Bool) throws {
        var failure: (any Error)?
        try read { entry in
            do {
                return try receive(entry)
            } catch {
                failure = error
                return false
            }
        }
        if let failure { throw failure }
    }
}

extension PhotoListReader: PhotoListSource {
    /// Passes the entries of the list to `receive`, in order. Stops soon after `receive` has returned false. Blocks.
    package func read(_ receive: (ListEntry) -> Bool) throws {
        var goesOn = true
        while goesOn, try next({ if goesOn { goesOn = receive($0) } }) {}
    }
}

package struct PhotoRecords<Records: Collection<(name: String, url: String)>>: PhotoListSource {
    private let records: Records

    package init(_ records: Records) { self.records = records }

    /// Passes the records to `receive` in order; stops after `receive` has returned false.
    package func read(_ receive: (ListEntry) -> Bool) {
        for record in records {
            guard ListEntry.with(name: record.name, url: record.url, receive) else { return }
        }
    }

    /// Does nothing: each reading begins at the first record.
    package func rewind() {}
}

extension PhotoRecords: Sendable where Records: Sendable {}
