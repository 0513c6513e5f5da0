import DarkroomModel

/// The manifest files of consecutive operations of a batch, which share a folder. An operation has one file for each claim.
struct FolderManifestPart: ManifestPart {
    private let batch: BatchID
    private let folder: ManifestFolder
    /// The fencing tokens of each operation's files.
    private var fencingTokens: [Int: Set<Int>]

    init(of batch: BatchID, folder: ManifestFolder) throws(ManifestError) {
        self.batch = batch
        self.folder = folder
        fencingTokens = try Self.fencingTokens(in: folder)
    }

    var operations: [Int] { fencingTokens.keys.sorted() }

    mutating func lines(ofOperation number: Int) throws(ManifestError) -> [ManifestLine] {
        while let listed = fencingTokens[number] {
            let lines = try ManifestText.merged(Array(listed), of: batch) { token throws(ManifestError) in
                let name = ManifestPath.fileName(operation: number, fencingToken: token)
                return try folder.contents(of: name).map { ($0, "\(folder)\(name)") }
            }
            if let lines { return lines }
            // A file was removed after the folder was read: there was a later claim, or the batch was forgotten.
            fencingTokens[number] = try Self.fencingTokens(in: folder)[number]
            guard fencingTokens[number] != listed else {
                throw ManifestError(
                    .unreadable, "\(folder): a file of operation \(number) is listed but not there")
            }
        }
        return []
    }

    private static func fencingTokens(in folder: ManifestFolder) throws(ManifestError) -> [Int: Set<Int>] {
        var fencingTokens: [Int: Set<Int>] = [:]
        for file in try folder.names() ?? [] {
            guard let (number, fencingToken) = ManifestPath.parse(fileName: file) else { continue }
            fencingTokens[number, default: []].insert(fencingToken)
        }
        return fencingTokens
    }
}
