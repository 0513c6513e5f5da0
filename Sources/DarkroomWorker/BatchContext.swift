import DarkroomImaging
import DarkroomModel
import Foundation

/// What a worker needs to know of a batch to develop its photos, made once for each batch.
final class BatchContext: Sendable {
    let id: BatchID
    let options: BatchOptions
    let develop: DevelopOptions
    let template: FileNameTemplate
    /// The output folder; nil when the batch writes nothing.
    let output: String?

    /// The context of a batch.
    /// - Throws: ``Refusal`` when this worker cannot do the batch.
    init(_ id: BatchID, _ options: BatchOptions, _ configuration: WorkerConfiguration) throws(Refusal) {
        self.id = id
        self.options = options
        output = options.output.isEmpty ? nil : options.output
        var develop = DevelopOptions()
        do {
            develop.filters = try options.filters.map { try Filter(parsing: $0) }
            template = try FileNameTemplate(options.fileName, namesAreUnique: true)
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
        self.develop = develop
        if let output { try Self.checkOutput(output, of: id, options, configuration) }
    }

    /// The folder of the batch's manifest.
    var manifestFolder: String? { output.map { $0 + "/" + ManifestPath.folder(id) } }

    private static func checkOutput(
        _ output: String, of id: BatchID, _ options: BatchOptions, _ configuration: WorkerConfiguration
    ) throws(Refusal) {
        let isBelow = configuration.outputsUnder.contains { folder in
            let folder = folder.hasSuffix("/") ? String(folder.dropLast()) : folder
            return output == folder || output.hasPrefix(folder + "/")
        }
        let climbs = output.split(separator: "/").contains("..")
        guard output.hasPrefix("/"), !climbs, configuration.outputsUnder.isEmpty || isBelow else {
            throw Refusal(reason: "its output \(output) is not below a folder of --outputs-under")
        }
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
