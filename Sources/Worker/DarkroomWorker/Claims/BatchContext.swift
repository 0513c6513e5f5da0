import DarkroomFiles
import DarkroomImaging
import DarkroomModel
import DarkroomOrigins
import DarkroomRecipes
import DarkroomStorage
import DarkroomText
import Foundation

/// The options, the recipe and the folders with which a worker develops the photos of a batch.
final class BatchContext: Sendable {
    let id: BatchID
    let options: BatchOptions
    let recipe: PhotoRecipe
    let storage: any BatchStorage
    /// The originals of the batch; nil if the batch does not keep downloaded bytes.
    let originals: BatchOriginals?
    /// The number that Redis gave the batch when the batch took its output, see ``BatchFacts/outputTaken``.
    let taken: Int

    /// Creates the context of a batch, and checks its folders.
    /// - Parameters:
    ///   - taken: see ``taken``.
    ///   - willAccess: called with each location before it is accessed, since the access may hang.
    /// - Throws: ``Refusal`` if this worker cannot run the batch.
    init(
        _ id: BatchID, _ options: BatchOptions, _ configuration: PhotoWorkerConfiguration,
        hooks: WorkerHooks = WorkerHooks(), taken: Int = 0, willAccess: (_ location: String) -> Void = { _ in }
    ) throws(Refusal) {
        self.id = id
        self.options = options
        self.taken = taken
        let template: FileNameTemplate
        do {
            recipe = try Self.recipe(id, options, configuration, willAccess)
            template = try FileNameTemplate(options.fileName, namesAreUnique: true)
        } catch let refusal as Refusal {
            throw refusal
        } catch {
            throw Refusal(.other, "\(error)")
        }
        let files = BatchFiles(
            id, options, template,
            kinds: recipe.renditions.map { rendition in
                let endings = rendition.encoding.formats(of: nil).map(\.fileExtension)
                let isCustom = rendition.hasAnyEnding
                return BatchFiles.Kind(
                    rendition: rendition.name, filters: rendition.filters.text, isCustom: isCustom,
                    endings: { isCustom ? CustomEnding.candidates($0) : endings })
            })
        let rules = StorageRules(
            places: configuration.outputFolders, isRemote: options.remoteOutput,
            folders: FolderRules(holderPatience: hooks.holderPatience, syncFileSystem: hooks.syncFileSystem))
        // The path is checked before a folder is created.
        let originalsPlace =
            options.originals.isEmpty ? nil : try OutputPlace(options.originals, role: Self.originalsRole, rules)
        storage =
            options.output.isEmpty
            ? NoStorage(files)
            : try StorageSchemes.place(options.output).storage(
                of: files, taken: taken, rules, willAccess: willAccess)
        try originalsPlace?.prepare(role: Self.originalsRole, rules, willAccess: willAccess)
        originals = originalsPlace.map {
            BatchOriginals(OriginalsFolder(place: $0, maxBytes: configuration.downloadRules.maxBytes))
        }
        if !options.photosFolder.isEmpty {
            willAccess(options.photosFolder)
            try Self.checkPhotos(options.photosFolder, configuration)
        }
    }

    private static let originalsRole = "folder of originals"

    /// The recipe of the batch.
    /// - Throws: ``Refusal`` if this worker lacks a format, a custom filter or a watermark; `ChainSyntaxError` if the
    ///   options are invalid or of a newer version.
    private static func recipe(
        _ id: BatchID, _ options: BatchOptions, _ configuration: PhotoWorkerConfiguration,
        _ willAccess: (_ location: String) -> Void
    ) throws -> PhotoRecipe {
        // The formats come first, because the files of watermarks may be on a file system that does not answer.
        if let problem = Imaging.problem(saving: try options.completeRenditions().flatMap(\.encoding.candidates)) {
            throw Refusal(.other, problem)
        }
        var recipe = try PhotoRecipe(
            options, maxPixels: configuration.maxPixels, processorTime: configuration.photoTimeout
        ) { path throws(Refusal) in
            let folders = configuration.downloadRules.folders + configuration.watermarkFolders
            guard let folder = OutputPlace.longest(of: folders, containing: path) else {
                throw Refusal(
                    .filesNotAllowed, "its watermark \(path) is not in a folder whose files this worker may read")
            }
            willAccess(folder)
            return folder
        }
        recipe.batch = id
        for name in Set(recipe.renditions.flatMap(\.filters.customNames)) {
            recipe.customFilters[name] = try customFilter(name, configuration)
        }
        return recipe
    }

    private static func customFilter(
        _ name: String, _ configuration: PhotoWorkerConfiguration
    ) throws(Refusal) -> CustomFilterCode {
        if let filter = configuration.customFilters[name] { return filter }
        let known = configuration.customFilters.keys.sorted().joined(separator: ", ")
        throw Refusal(
            .other,
            "this worker has no custom filter \"\(name)\" for \(PhotoFilter.Custom.prefix)\(name): "
                + (known.isEmpty ? "none is registered with it" : "registered with it are \(known)"))
    }

    /// - Throws: ``Refusal`` if this worker is not allowed to read the folder of the photos, or cannot access it.
    private static func checkPhotos(_ path: String, _ configuration: PhotoWorkerConfiguration) throws(Refusal) {
        let folders = configuration.downloadRules.folders
        let isRead = (folders + folders.compactMap(Path.real)).contains { Folder.part(of: path, below: $0) != nil }
        guard isRead, !Path.climbs(path) else {
            throw Refusal(
                .filesNotAllowed, "its photos lie in \(path), which is not in a folder whose files this worker may read"
            )
        }
        guard access(path, R_OK | X_OK) == 0 else {
            throw Refusal(.folderMissing, "the folder of its photos is not seen here: \(path): \(systemErrorText())")
        }
    }
}
