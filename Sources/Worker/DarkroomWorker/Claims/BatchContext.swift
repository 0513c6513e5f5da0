import DarkroomConcurrency
import DarkroomFileNames
import DarkroomFiles
import DarkroomImaging
import DarkroomModel
import DarkroomOutput
import DarkroomRecipes
import DarkroomText
import Foundation

/// The options, the recipe and the folders with which a worker develops the photos of a batch.
final class BatchContext: Sendable {
    let id: BatchID
    let options: BatchOptions
    let recipe: PhotoRecipe
    let output: BatchOutput
    private let holderPatience: Duration
    /// The manifest folder that the operations share. It is closed when the last operation has ended, so that its file
    /// system can be unmounted.
    private let latestFolder = Locked(WeakFolder())

    /// The bytes that cannot be decoded, by the index of their photo. These photos are downloaded again.
    let unusableOriginals = Locked<[Int: UnusableOriginal]>([:])

    /// Bytes in the folder of originals that cannot be decoded. Another batch may have developed them with other options.
    /// So they stay until another download gives a photo that can be developed, or the same bytes, which can be had again.
    struct UnusableOriginal {
        let reason: FailureReason
        let detail: String
        /// The SHA-256 digest of the bytes.
        let digest: [UInt8]

        /// The detail of the photo's failure after it also failed with another download.
        func detail(after reason: FailureReason, _ other: String) -> String {
            "\(detail); downloaded again: \(reason.word)\(other.isEmpty ? "" : ": \(other)")"
        }
    }

    private struct WeakFolder {
        weak var folder: OpenFolder?
    }

    /// Creates the context of a batch, and checks its folders.
    /// - Parameters:
    ///   - taken: the number that the batch received when it took its output folder, see ``BatchFacts/outputTaken``.
    ///   - willAccess: called with each folder before the folder is accessed, since the access may hang.
    /// - Throws: ``Refusal`` if this worker cannot run the batch.
    init(
        _ id: BatchID, _ options: BatchOptions, _ configuration: WorkerConfiguration, taken: Int = 0,
        willAccess: (_ folder: String) -> Void = { _ in }
    ) throws(Refusal) {
        self.id = id
        self.options = options
        holderPatience = configuration.holderPatience
        let template: FileNameTemplate
        do {
            recipe = try Self.recipe(options, configuration, willAccess)
            template = try FileNameTemplate(options.fileName, namesAreUnique: true)
        } catch let refusal as Refusal {
            throw refusal
        } catch {
            throw Refusal(reason: "\(error)")
        }
        let folders = configuration.outputsUnder
        let place =
            options.output.isEmpty
            ? nil
            : OutputPlace(
                folder: options.output, trusted: try Self.trusted(options.output, folders, "output"),
                marker: ManifestPath.folder(id), holder: FolderHolder(owner: id.description, number: taken))
        let originals =
            options.originals.isEmpty
            ? nil
            : OriginalsFolder(
                place: OutputPlace(
                    folder: options.originals,
                    trusted: try Self.trusted(options.originals, folders, "folder of originals"), marker: nil),
                maxBytes: configuration.transfer.maxBytes)
        output = BatchOutput(
            id, options, template, place: place, originals: originals,
            files: recipe.outputs.map { output in
                let endings = output.encoding.formats(of: nil).map(\.fileExtension)
                let isCustom = output.hasAnyEnding
                return BatchOutput.File(
                    rendition: output.rendition, filters: output.chain.description, isCustom: isCustom,
                    endings: { isCustom ? CustomEnding.candidates($0) : endings })
            })
        // Creates folders only inside folders of --outputs-under, so that nothing is written if a share is not mounted.
        let makes = options.remoteOutput && !folders.isEmpty
        if let place {
            willAccess(place.folder)
            try Self.check(place, "output folder", makes: makes, isRemote: options.remoteOutput)
        }
        if let place = originals?.place {
            willAccess(place.folder)
            try Self.check(place, "folder of originals", makes: makes, isRemote: options.remoteOutput)
        }
        if !options.photosFolder.isEmpty {
            willAccess(options.photosFolder)
            try Self.checkPhotos(options.photosFolder, configuration)
        }
    }

    /// The number that the batch received when it last took its output folder before this context was created.
    var taken: Int { output.place?.holder?.number ?? 0 }

    /// Opens the folder of the manifest for a claimed operation, and takes the output folder for the batch. Returns nil
    /// if the batch does not write files.
    /// - Throws: ``Refusal`` if no file can be written to the folder.
    func openFolder() throws(Refusal) -> OpenFolder? {
        guard let place = output.place else { return nil }
        do throws(SystemFailure) {
            let root = try place.open()
            try take(root, place)
            let latest = latestFolder.withLock { $0.folder }
            if let latest, latest.isStillThere, latest.isWritable { return latest }
            let renditions = recipe.outputs.map(\.rendition).filter { !$0.isEmpty }
            let folder = try OpenFolder(place, renditions: renditions)
            guard folder.isWritable else { throw SystemFailure("write to", errno) }
            latestFolder.withLock { $0.folder = folder }
            return folder
        } catch {
            throw Refusal(
                reason: "its output folder cannot be used: "
                    + (place.detail(of: error) ?? "\(error.attempted) \(place.markerPath): \(error.text)"),
                isOfHolder: error.isTakenFolder)
        }
    }

    /// Takes the output folder for the batch. A full disk is not an error here, because the next claim tries to take
    /// the folder again.
    private func take(_ root: Folder, _ place: OutputPlace) throws(SystemFailure) {
        do throws(SystemFailure) {
            if let other = try place.holder?.take(ManifestPath.holder, in: root, patience: holderPatience) {
                throw SystemFailure(takenBy: other.owner)
            }
        } catch {
            guard error.error == ENOSPC || error.error == EDQUOT else { throw error }
        }
    }

    /// The recipe of the batch.
    /// - Throws: ``Refusal`` if this worker lacks a format, a custom operation or a watermark; `ChainSyntaxError` if the
    ///   options are invalid or of a newer version.
    private static func recipe(
        _ options: BatchOptions, _ configuration: WorkerConfiguration, _ willAccess: (_ folder: String) -> Void
    ) throws -> PhotoRecipe {
        let outputs = try options.outputs()
        if let problem = Imaging.problem(saving: outputs.flatMap(\.encoding.candidates)) {
            throw Refusal(reason: problem)
        }
        var limits = DevelopOptions(outputs: [], maxPixels: configuration.maxPixels)
        limits.processorTime = configuration.photoTimeout
        limits.damage = DamageLevel(options.damagedPhotos)
        limits.keepsAnimation = options.keepsAnimations
        limits.overlays = try Overlays.load(for: outputs) { path throws(Refusal) in
            let folders = configuration.transfer.fileFolders + configuration.watermarkFolders
            guard let folder = longest(of: folders, containing: path) else {
                throw Refusal(reason: "its watermark \(path) is not below a folder of --files-under")
            }
            willAccess(folder)
            return folder
        }
        var operations: [String: CustomOperation] = [:]
        for name in Set(outputs.flatMap(\.chain.customNames)) {
            operations[name] = try operation(name, configuration)
        }
        return PhotoRecipe(outputs: outputs, limits: limits, operations: operations)
    }

    private static func operation(
        _ name: String, _ configuration: WorkerConfiguration
    ) throws(Refusal) -> CustomOperation {
        if let command = configuration.commands[name] { return .command(command) }
        if let operation = configuration.operations[name] { return .registered(operation) }
        let known = Set(configuration.operations.keys).union(configuration.commands.keys).sorted()
            .joined(separator: ", ")
        throw Refusal(
            reason: "this worker has no operation \"\(name)\" for the filter \(CustomStep.prefix)\(name): "
                + (known.isEmpty ? "none is registered with it" : "registered with it are \(known)"))
    }

    /// Returns the longest path of `folders` that contains `path`. If `folders` is empty, returns `path`.
    /// - Throws: ``Refusal`` if this worker is not allowed to write to `path`.
    private static func trusted(_ path: String, _ folders: [String], _ what: String) throws(Refusal) -> String {
        let above = longest(of: folders, containing: path)
        guard Path.isAbsolute(path), !Path.climbs(path), let trusted = folders.isEmpty ? path : above else {
            throw Refusal(reason: "its \(what) \(path) is not below a folder of --outputs-under")
        }
        return trusted
    }

    /// The longest path of `folders` that contains `path`. Links are followed only in the path of a trusted folder, so a
    /// shorter path may contain a link that is not followed.
    private static func longest(of folders: [String], containing path: String) -> String? {
        folders.filter { Folder.part(of: path, below: $0) != nil }.max { $0.utf8.count < $1.utf8.count }
    }

    /// - Throws: ``Refusal`` if this worker is not allowed to read the folder of the photos, or cannot access it.
    private static func checkPhotos(_ path: String, _ configuration: WorkerConfiguration) throws(Refusal) {
        let folders = configuration.transfer.fileFolders
        let isRead = (folders + folders.compactMap(Path.real)).contains { Folder.part(of: path, below: $0) != nil }
        guard isRead, !Path.climbs(path) else {
            throw Refusal(reason: "its photos lie in \(path), which is not below a folder of --files-under")
        }
        guard access(path, R_OK | X_OK) == 0 else {
            throw Refusal(reason: "the folder of its photos is not seen here: \(path): \(systemErrorText())")
        }
    }

    /// - Parameters:
    ///   - makes: whether the folder is created first.
    ///   - isRemote: whether workers may create the folder, see `BatchOptions.remoteOutput`.
    /// - Throws: ``Refusal`` if this worker cannot open the folder.
    private static func check(
        _ place: OutputPlace, _ what: String, makes: Bool, isRemote: Bool
    ) throws(Refusal) {
        if makes {
            do {
                try FileManager.default.createDirectory(atPath: place.trusted, withIntermediateDirectories: true)
                try place.make(place.marker ?? "")
            } catch {
                let found = (error as? SystemFailure)?.text ?? error.localizedDescription
                throw Refusal(reason: "its \(what) \(place.folder) cannot be created: \(found)")
            }
        }
        do throws(SystemFailure) {
            _ = try place.open()
        } catch {
            let isMissing = error.error == ENOENT || error.error == ENOTDIR
            if isMissing, isRemote, !makes {
                throw Refusal(
                    reason: "its \(what) is not seen here: \(place.markerPath) is missing; mount its share, or start "
                        + "this worker with --outputs-under <folder above it>, so that it creates the folder")
            }
            let found = isMissing ? "is missing; is the share mounted?" : error.text
            throw Refusal(reason: "its \(what) is not seen here: \(place.markerPath) \(found)")
        }
    }
}

/// Why a worker cannot run a batch.
struct Refusal: Error, Equatable {
    let reason: String
    /// Whether the reason is that another batch has taken the output folder. The refused batch may take it back later.
    var isOfHolder = false
}
