import ArgumentParsing
import Darkroom
import DarkroomConcurrency
import DarkroomFiles
import DarkroomImaging
import DarkroomLists
import DarkroomRecipes
import Foundation

/// `develop` with `-o`: many photos, which are written to a folder.
extension DevelopCommand {
    /// Develops the photos on several threads, and writes and reports them in the order of the arguments. If a photo
    /// fails, its error is printed, and the other photos are still developed.
    func developAll(into folder: String, _ output: StandardOutput) throws {
        try makeFolder(folder)
        var options = ListOptions()
        options.isRecursive = recursive
        options.except = folder
        let photos = DevelopInput.photos(of: names, options) { printToStandardError($0) }
        let recipe = try image.recipe(maxPixels: maxPixels?.value)
        let renditions = recipe.renditions.map(\.name)
        // Maps the path of each written file to the name of its photo.
        var written: [String: String] = [:]
        var array = JSONArrayWriter(output)
        var failed = 0
        var lostGainMaps = 0
        try OrderedResults.forEach(
            count: photos.count, threads: jobs ?? ProcessInfo.processInfo.activeProcessorCount, name: "develop"
        ) { number in
            Result { () throws(CommandError) in
                if let problem = photos[number].problem { throw problem }
                return try DevelopedPhoto(
                    photos[number].path, at: photos[number].bytes, by: recipe, compares: compare)
            }
        } receive: { number, result in
            do {
                let photo = try result.get()
                if photo.lostGainMap { lostGainMaps += 1 }
                let paths = zip(renditions, photo.products).map { rendition, product in
                    Path.joined(rendition, Self.fileName(of: photos[number].name, ending: product.ending))
                }
                for subfolder in paths.compactMap({ Path.split($0).folder }) {
                    try makeSubfolder(subfolder, of: folder)
                }
                let files = self.files(of: photo, at: paths.map { "\(folder)/\($0)" })
                for file in files {
                    guard let other = written[file.path] else { continue }
                    throw CommandError("write the photo \(file.path): the photo of \(other) has that name already")
                }
                try write(files)
                for file in files { written[file.path] = photo.name }
                for file in files.prefix(photo.products.count) {
                    if json {
                        try array.add(photo.json(file.product, file.path))
                    } else {
                        try output.line(photo.text(file.product, file.path))
                    }
                }
                if output.isTerminal { try output.flush() }
            } catch let error as CommandError {
                failed += 1
                printToStandardError("error: \(error)")
            }
        }
        if json { try array.finish() } else { try output.flush() }
        if lostGainMaps > 0 { printToStandardError(GainMapText.lost(lostGainMaps)) }
        guard failed > 0 else { return }
        printToStandardError("\(HumanText.count(failed)) of \(HumanText.count(photos.count, of: "photo")) failed")
        throw ExitCode.photosFailed
    }

    private func makeFolder(_ folder: String) throws(CommandError) {
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        } catch {
            throw CommandError("make the folder \(folder): \(systemReason(error))")
        }
    }

    /// Creates a subfolder of the output folder. Throws if a component of its path is a symbolic link.
    private func makeSubfolder(_ subfolder: String, of folder: String) throws(CommandError) {
        do throws(SystemFailure) {
            _ = try Folder(trusted: folder).makeFolder(subfolder)
        } catch {
            throw CommandError("make the folder \(folder)/\(subfolder): \(error.text)")
        }
    }

    /// The file name of a developed photo: the name of the photo, with a new extension if the format changes.
    private static func fileName(of photo: String, ending: String) -> String {
        let own = Self.format(ofEnding: photo)
        if own?.fileExtension == ending { return photo }
        let stem = own == nil ? photo : URL(fileURLWithPath: photo).deletingPathExtension().lastPathComponent
        let folder = own == nil ? "" : Path.split(photo).folder ?? ""
        return Path.joined(folder, stem) + "." + ending
    }
}
