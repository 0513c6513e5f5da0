import DarkroomFiles
import DarkroomModel
import Foundation

/// A folder to which files are written, perhaps on a share that is not always mounted.
package struct OutputPlace: Hashable, Sendable {
    /// The absolute path of the folder.
    package let folder: String
    /// The path of the folder or of a folder that contains it, as the user of this process gave it. Symbolic links in
    /// this path are followed; links in the rest of the path are not.
    package let trusted: String
    /// The path of the marker, relative to the folder. The marker is a folder that must exist before files are written,
    /// which prevents writing to the empty mount point of an unmounted share. Nil if no marker is required.
    package let marker: String?
    /// The batch that must hold the folder when a file gets its final name; nil if no holder is required.
    package let holder: FolderHolder?

    package init(folder: String, trusted: String? = nil, marker: String?, holder: FolderHolder? = nil) {
        self.folder = folder
        self.trusted = trusted ?? folder
        self.marker = marker
        self.holder = holder
    }

    package var markerPath: String { marker.map { folder + "/" + $0 } ?? folder }

    /// Opens the folder if the marker exists. Callers open files relative to the result, so that the files are in the
    /// folder of the marker, even if a file system is mounted or unmounted after this call.
    /// - Throws: the error of the system, with `see` as the attempted action.
    package func open() throws(SystemFailure) -> Folder {
        do throws(SystemFailure) {
            let root = try openTrusted().folder(Folder.part(of: folder, below: trusted) ?? "")
            if let marker { close(try root.open(marker, O_RDONLY | O_DIRECTORY)) }
            return root
        } catch {
            throw SystemFailure("see", error.error, error.text)
        }
    }

    /// Creates the folder, and its subfolder `below`.
    private func make(_ below: String) throws(SystemFailure) {
        let part = Folder.part(of: folder, below: trusted) ?? ""
        _ = try openTrusted().makeFolder([part, below].filter { !$0.isEmpty }.joined(separator: "/"))
    }

    /// Calls `body` while the batch holds the folder. `body` gives a file its final name.
    /// - Throws: ``SystemFailure`` with the attempted action `hold` if another batch holds the folder.
    package func whileHolding(_ root: Folder, _ body: () throws(SystemFailure) -> Void) throws(SystemFailure) {
        guard let holder else { return try body() }
        try holder.whileHolding(ManifestPath.holder, in: root, body)
    }

    /// The longest path of `folders` that contains `path`. Links are followed only in the path of a trusted folder, so a
    /// shorter path may contain a link that is not followed.
    package static func longest(of folders: [String], containing path: String) -> String? {
        folders.filter { Folder.part(of: path, below: $0) != nil }.max { $0.utf8.count < $1.utf8.count }
    }

    private func openTrusted() throws(SystemFailure) -> Folder { try Folder(trusted: trusted) }
}

extension OutputPlace {
    /// The place of a batch in a worker.
    /// - Parameter role: the name of the folder's role in messages, for example `output folder`.
    /// - Throws: ``Refusal`` if the worker may not write to the folder.
    package init(
        _ folder: String, role: String, marker: String? = nil, holder: FolderHolder? = nil, _ rules: StorageRules
    ) throws(Refusal) {
        let above = Self.longest(of: rules.places, containing: folder)
        guard Path.isAbsolute(folder), !Path.climbs(folder), let trusted = rules.places.isEmpty ? folder : above else {
            throw Refusal(.outputNotAllowed, "its \(role) \(folder) is not in a folder to which this worker may write")
        }
        self.init(folder: folder, trusted: trusted, marker: marker, holder: holder)
    }

    /// Creates the folder if the worker may do so, and checks that the worker sees it. Blocks.
    /// - Parameter willAccess: called with the folder before it is accessed, since the access may hang.
    /// - Throws: ``Refusal`` if the worker does not see the folder.
    package func prepare(
        role: String, _ rules: StorageRules, willAccess: (_ location: String) -> Void
    ) throws(Refusal) {
        willAccess(folder)
        if rules.makesPlaces { try create(role) }
        do throws(SystemFailure) {
            _ = try open()
        } catch {
            let isMissing = error.error == ENOENT || error.error == ENOTDIR
            if isMissing, rules.isRemote, !rules.makesPlaces {
                throw Refusal(
                    .folderMissing,
                    "its \(role) is not seen here: \(markerPath) is missing; mount its share, or let this worker create "
                        + "folders in a folder above it")
            }
            let found = isMissing ? "is missing; is the share mounted?" : error.text
            throw Refusal(error.refusalCode, "its \(role) is not seen here: \(markerPath) \(found)")
        }
    }

    private func create(_ role: String) throws(Refusal) {
        do {
            try FileManager.default.createDirectory(atPath: trusted, withIntermediateDirectories: true)
            try make(marker ?? "")
        } catch {
            let found = (error as? SystemFailure)?.text ?? error.localizedDescription
            throw Refusal(
                (error as? SystemFailure)?.refusalCode ?? .other, "its \(role) \(folder) cannot be created: \(found)")
        }
    }
}
