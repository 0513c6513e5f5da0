/// Records of a collection as a photo list.
package struct PhotoRecords<Records: Collection<(name: String, url: String)>>: PhotoListSource {
    private let records: Records

    /// A list of these records, in their order.
    package init(_ records: Records) { self.records = records }

    /// Passes the records to `receive` in order; stops after `receive` has returned false.
    package func read(_ receive: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Bool) {
        for record in records {
            var (name, url) = record
            let goesOn = name.withUTF8 { name in
                url.withUTF8 { url in receive(UnsafeRawBufferPointer(name), UnsafeRawBufferPointer(url)) }
            }
            guard goesOn else { return }
        }
    }

    /// Does nothing: each reading begins at the first record.
    package func rewind() {}
}

extension PhotoRecords: Sendable where Records: Sendable {}
