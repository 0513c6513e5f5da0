import DarkroomModel

/// Reads the results of photos, even while workers are writing them.
package protocol ManifestSource: Sendable {
    /// The batches that have results here, earliest submission first.
    /// - Throws: ``ManifestError`` with the code `noManifest` if no batch ever had results here.
    func batches() throws(ManifestError) -> [BatchID]

    /// The numbers of the parts of a batch's manifest, in ascending order; empty if there is no manifest.
    func parts(of batch: BatchID) throws(ManifestError) -> [Int]

    /// A part of a batch's manifest; empty if the part does not exist.
    /// - Parameter number: see ``ManifestParts/number(of:)``.
    func part(_ number: Int, of batch: BatchID) throws(ManifestError) -> any ManifestPart
}

/// The results of up to ``ManifestParts/size`` consecutive operations.
package protocol ManifestPart: Sendable {
    /// The numbers of the operations that have lines, in ascending order.
    var operations: [Int] { get }

    /// The lines of an operation, sorted by photo index; empty if the operation has none. If several claims of the
    /// operation have stored a line of a photo, the result contains the line with the highest fencing token.
    ///
    /// Lines of other batches are left out. A damaged line of the highest token is an error; damaged lines of lower tokens are
    /// left out, because a power failure may damage lines that were not reported.
    mutating func lines(ofOperation number: Int) throws(ManifestError) -> [ManifestLine]
}

/// The division of operations into parts. A reader lists the files of one part at a time.
package enum ManifestParts {
    /// The maximum number of operations of a part.
    package static let size = 1000

    /// The number of the part that contains an operation.
    package static func number(of operation: Int) -> Int { operation / size }
}

extension ManifestSource {
    /// Calls `body` with every line of all batches, one batch after another, each in the order of its list.
    package func forEachLine(_ body: (ManifestLine) throws -> Void) throws {
        for batch in try batches() { try forEachLine(of: batch, body) }
    }

    /// Calls `body` with every line of a batch, in the order of the list.
    package func forEachLine(of batch: BatchID, _ body: (ManifestLine) throws -> Void) throws {
        for number in try parts(of: batch) {
            var part = try part(number, of: batch)
            for operation in part.operations {
                for line in try part.lines(ofOperation: operation) { try body(line) }
            }
        }
    }
}
