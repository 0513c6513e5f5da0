import Darkroom
import Foundation

/// Checks a folder for photos: whether it can be written, its free space, and its speed.
struct FolderCheck: Check {
    let facts: FolderFacts

    private static let littleSpace = 1_000_000_000
    private static let noSpace = 16_000_000
    private static let fewFiles = 10_000
    /// A disk that writes fewer files per second slows down a worker with one core.
    private static let slowFilesPerSecond = 100.0

    var findings: [Finding] {
        let path = facts.path
        switch facts.kind {
        case .missing:
            return [
                .warning(
                    "output folder", "no such folder: \(path)",
                    "mount its file system; on the machine that submits, submit creates it")
            ]
        case .file: return [.problem("output folder", "not a folder: \(path)", "name a folder")]
        case .unreadable(let reason):
            return [
                .problem("output folder", "\(path): \(reason)", "give this user access, or mount its file system again")
            ]
        case .folder: return [space, files, writing].compactMap { $0 }
        }
    }

    private var space: Finding {
        let found =
            "\(HumanText.bytes(facts.freeBytes)) free of \(HumanText.bytes(facts.totalBytes)) in \(facts.path)"
        let advice = "free some space, or choose another folder"
        if facts.freeBytes < Self.noSpace { return .problem("output space", found, advice) }
        return facts.freeBytes < Self.littleSpace
            ? .warning("output space", found, advice) : .ok("output space", found)
    }

    private var files: Finding? {
        guard let free = facts.freeFiles else { return nil }
        let found = "\(HumanText.count(free)) more files in \(facts.path)"
        let advice = "every photo is a file: remove some, or choose a file system with more inodes"
        if free == 0 { return .problem("output files", found, advice) }
        return free < Self.fewFiles ? .warning("output files", found, advice) : .ok("output files", found)
    }

    private var writing: Finding? {
        switch facts.writing {
        case nil: return nil
        case .success(let took):
            let rate = Double(FolderProbe.fileCount) / max(took / .seconds(1), 1e-6)
            let found =
                "\(FolderProbe.fileCount) files of \(HumanText.bytes(FolderProbe.fileBytes)) on disk within "
                + "\(HumanText.duration(took / .seconds(1))), \(HumanText.rate(rate)), in \(facts.path)"
            guard rate < Self.slowFilesPerSecond else { return .ok("output writing", found) }
            return .warning(
                "output writing", found,
                "photos wait for this disk: find other programs that write to it, or use a faster disk")
        case .failure(let failure):
            let found = "cannot \(failure.attempted) files in \(facts.path): \(failure.text)"
            let advice =
                switch failure.error {
                case EROFS: "mount it for writing"
                case ENOSPC, EDQUOT: "free some space or inodes, or choose another folder"
                default: "change its permissions, or choose another folder"
                }
            return .problem("output writing", found, advice)
        }
    }
}
