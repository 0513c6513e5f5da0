/// A collection of names and URLs as a photo list.
package struct PhotoRecords<Records: Collection<(name: String, url: String)>>: PhotoListSource {
    private let records: Records

    /// Creates a list of these records, in the same order.
    package init(_ records: Records) { self.records = records }

    /// Passes the records to `receive`, in order. Stops after `receive` has returned false.
    package func read(_ receive: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Bool) {
        for record in records {
            var (name, url) = record
            let goesOn = name.withUTF8 { name in
                url.withUTF8 { url in receive(UnsafeRawBufferPointer(name), UnsafeRawBufferPointer(url)) }
            }
            guard goesOn else { return }
        }
    }

    /// Does nothing, because each reading begins with the first record.
    package func rewind() {}
}

extension PhotoRecords: Sendable where Records: Sendable {}
