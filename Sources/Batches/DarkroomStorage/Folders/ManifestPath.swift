import DarkroomFiles
import DarkroomModel
import DarkroomText

/// The paths of manifest files: `manifest/<batch id>/<operation number>.<fencingToken>.jsonl` in the output folder.
package enum ManifestPath {
    /// The folder of a batch's manifest in the output folder. If a worker sees this folder, the right output folder is
    /// mounted.
    package static func folder(_ batch: BatchID) -> String { "manifest/\(batch)" }

    /// The file with the id of the batch that holds the output folder. Its name is not a valid batch id, so it differs
    /// from all manifest folders.
    package static let holder = "manifest/holder.txt"

    /// The name of a file in the folder of a batch's manifest. The file contains the id of the Redis server to which
    /// the batch was submitted.
    package static let origin = "origin.txt"

    /// The subfolder of ``folder(_:)`` for an operation, with a trailing slash; "" for operation numbers below 1,000.
    package static func subfolder(operation number: Int) -> String {
        number < 1000 ? "" : (number / 1000).padded(to: 5) + "/"
    }

    /// The file name for an operation.
    package static func fileName(operation number: Int, fencingToken: Int) -> String {
        "\(number.padded(to: 8)).\(fencingToken).jsonl"
    }

    /// The number of the subfolder with this name; nil if ``subfolder(operation:)`` never returns this name.
    package static func part(folderName name: String) -> Int? {
        guard let part = Int(name), (1...StoredBounds.photos.upperBound / 1000).contains(part),
            part.padded(to: 5) == name
        else { return nil }
        return part
    }

    /// The numbers in a file name; nil if ``fileName(operation:fencingToken:)`` never returns this name.
    package static func parse(fileName: String) -> (operation: Int, fencingToken: Int)? {
        let parts = fileName.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let operation = Int(parts[0]), let fencingToken = Int(parts[1]), operation > 0,
            StoredBounds.photos.contains(operation), StoredBounds.numbers.contains(fencingToken),
            Self.fileName(operation: operation, fencingToken: fencingToken) == fileName
        else { return nil }
        return (operation, fencingToken)
    }

    /// The fencing tokens of an operation's files in a folder.
    static func fencingTokens(ofOperation number: Int, in folder: Folder) -> [Int] {
        // A folder that cannot be read counts as empty.
        (try? listedFencingTokens(ofOperation: number, in: folder)) ?? []
    }

    /// The fencing tokens of an operation's files in a folder. Throws if the folder cannot be read.
    static func listedFencingTokens(ofOperation number: Int, in folder: Folder) throws(SystemFailure) -> [Int] {
        try folder.names().compactMap(parse(fileName:)).filter { $0.operation == number }.map(\.fencingToken)
    }
}
