import DarkroomConcurrency
import DarkroomImaging
import DarkroomModel
import Foundation

/// What a worker needs to know of a batch to develop its photos, made once for each batch.
final class BatchContext: Sendable {
    let id: BatchID
    let options: BatchOptions
    let develop: DevelopOptions
    /// What runs in place of filters; nil when the batch has filters.
    let ownOperation: OwnOperation?
    let template: FileNameTemplate
    /// The output folder; nil when the batch writes nothing.
    let output: String?
    /// Where downloaded bytes are kept and looked for; nil when they are not.
    let originals: OriginalsFolder?
    /// Shared by the operations that are held, and closed with the last of them: nothing else keeps a share mounted.
    private let latestFolder = Locked(WeakFolder())

    private struct WeakFolder {
        weak var folder: OpenFolder?
    }

    /// The context of a batch.
    /// - Throws: ``Refusal`` when this worker cannot do the batch.
    init(_ id: BatchID, _ options: BatchOptions, _ configuration: WorkerConfiguration) throws(Refusal) {
        self.id = id
        self.options = options
        output = options.output.isEmpty ? nil : options.output
        var develop = DevelopOptions()
        do {
            let own = try OwnFilter.name(in: options.filters)
            ownOperation = try own.map { name throws(Refusal) in
                OwnOperation(name: name, make: try Self.operation(name, configuration))
            }
            develop.filters = own == nil ? try options.filters.map { try Filter(parsing: $0) } : []
            template = try FileNameTemplate(options.fileName, namesAreUnique: true)
        } catch let refusal as Refusal {
            throw refusal
        } catch {
            throw Refusal(reason: "\(error)")
        }
        if options.format != "same" {
            guard let format = ImageFormat(rawValue: options.format), Imaging.canSave(format) else {
                throw Refusal(reason: "this worker cannot write the format \"\(options.format)\"")
            }
            develop.format = format
        }
        develop.quality = options.quality
        develop.strip = options.strip
        develop.maxPixels = configuration.maxPixels
        develop.processorTime = configuration.photoTimeout
        self.develop = develop
        originals =
            options.originals.isEmpty
            ? nil : OriginalsFolder(path: options.originals, maxBytes: configuration.transfer.maxBytes)
        if let output { try Self.checkOutput(output, of: id, options, configuration) }
        if let originals { try Self.checkOriginals(originals.path, options, configuration) }
    }

    /// An operation of one's own, as it was registered.
    struct OwnOperation {
        let name: String
        let make: @Sendable () -> any PhotoOperation
    }

    /// Where the batch's files go; nil when it writes nothing.
    var place: OutputPlace? { output.map { OutputPlace(folder: $0, sign: ManifestPath.folder(id)) } }

    /// The folder of the batch's manifest.
    var manifestFolder: String? { place?.signPath }

    /// The folders that something of the batch is written to.
    var folders: [String] { [output, originals?.path].compactMap { $0 } }

    /// The folder of the manifest, open, for an operation that was claimed; nil when the batch writes nothing.
    /// - Throws: ``Refusal`` when nothing can be written there.
    func openFolder() throws(Refusal) -> OpenFolder? {
        guard let path = manifestFolder else { return nil }
        guard access(path, W_OK) == 0 else {
            throw Refusal(reason: "its output folder cannot be written: \(path): \(String(cString: strerror(errno)))")
        }
        if let folder = latestFolder.withLock({ $0.folder }), folder.isStillThere { return folder }
        do throws(OutputPlace.SystemFailure) {
            let folder = try OpenFolder(path)
            latestFolder.withLock { $0.folder = folder }
            return folder
        } catch {
            throw Refusal(reason: "its output folder cannot be used: \(error.attempted) \(path): \(error.text)")
        }
    }

    /// A line as the batch's manifest has it: the one place where lines become text.
    func text(of line: ManifestLine) -> [UInt8] {
        var line = line
        if options.redactURLs { line.redact() }
        var text: [UInt8] = []
        text.reserveCapacity(512)
        line.append(to: &text)
        return text
    }

    /// The path of a photo's file below the output folder.
    func path(of record: PhotoRecord, ending: String) -> String {
        var name = record.name
        // The index tells photos apart, so the name's own ending need not stand there twice.
        if ownOperation != nil, template.hasIndex, OwnEnding.ending(of: name) == ending {
            name = String(name.dropLast(ending.count + 1))
        }
        return template.path(index: record.index, name: name, ending: ending)
    }

    /// The endings that a photo's file may have.
    func endings(of record: PhotoRecord) -> [String] {
        if ownOperation != nil { return OwnEnding.candidates(record) }
        return (develop.format.map { [$0] } ?? ImageFormat.allCases).map(\.fileExtension)
    }

    private static func operation(
        _ name: String, _ configuration: WorkerConfiguration
    ) throws(Refusal) -> @Sendable () -> any PhotoOperation {
        if let operation = configuration.operations[name] { return operation }
        let known = configuration.operations.keys.sorted().joined(separator: ", ")
        throw Refusal(
            reason: "this worker has no operation \"\(name)\" for the filter \(OwnFilter.prefix)\(name): "
                + (known.isEmpty ? "none is registered with it" : "registered with it are \(known)"))
    }

    /// Whether a folder of a batch lies below one of `folders`.
    /// - Throws: ``Refusal`` when it lies where nothing may be written.
    private static func isBelow(_ folders: [String], _ path: String, _ what: String) throws(Refusal) -> Bool {
        let isBelow = folders.contains { folder in
            let folder = folder.hasSuffix("/") ? String(folder.dropLast()) : folder
            return path == folder || path.hasPrefix(folder + "/")
        }
        let climbs = path.split(separator: "/").contains("..")
        guard path.hasPrefix("/"), !climbs, folders.isEmpty || isBelow else {
            throw Refusal(reason: "its \(what) \(path) is not below a folder of --outputs-under")
        }
        return isBelow
    }

    private static func checkOriginals(
        _ path: String, _ options: BatchOptions, _ configuration: WorkerConfiguration
    ) throws(Refusal) {
        let isBelow = try Self.isBelow(configuration.outputsUnder, path, "folder of originals")
        if options.remoteOutput, isBelow {
            do {
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            } catch {
                throw Refusal(
                    reason: "its folder of originals \(path) cannot be made: \(error.localizedDescription)")
            }
        }
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue else {
            throw Refusal(reason: "its folder of originals is not seen here: \(path) is missing; is the share mounted?")
        }
    }

    private static func checkOutput(
        _ output: String, of id: BatchID, _ options: BatchOptions, _ configuration: WorkerConfiguration
    ) throws(Refusal) {
        let isBelow = try Self.isBelow(configuration.outputsUnder, output, "output")
        let manifest = output + "/" + ManifestPath.folder(id)
        // Only a folder that this worker was given may be made here: a machine without the share must write nothing.
        if options.remoteOutput, isBelow {
            do {
                try FileManager.default.createDirectory(atPath: manifest, withIntermediateDirectories: true)
            } catch {
                throw Refusal(reason: "its output folder \(output) cannot be made: \(error.localizedDescription)")
            }
        }
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: manifest, isDirectory: &isFolder), isFolder.boolValue else {
            throw Refusal(
                reason: "its output folder is not seen here: \(manifest) is missing; is the share mounted?")
        }
    }
}

/// Why a worker does not take a batch: it leaves the batch to others.
struct Refusal: Error, Equatable {
    let reason: String
}
