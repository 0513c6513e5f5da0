import ArgumentParsing
import Darkroom
import DarkroomCoordinator
import DarkroomFiles
import DarkroomLists
import Foundation

/// Options for output files and kept downloads.
struct OutputOptions: ParsableArguments {
    @Option(
        help: """
            The template for file names without the ending: text with {index}, {name} or {stem}; {stem} is the name \
            without the ending of a picture. The default is {name} or {stem} for property-list dictionaries and \
            {index}-{name} for other lists.
            """,
        valueName: "template")
    var fileName: String?
    @Flag(
        help: "Write to the folder even if another batch has written to it.",
        synonyms: ["force", "f", "replace"]) var overwrite: Bool
    @Option(
        help: """
            Keep complete downloads below this folder. Photos that another batch has downloaded to it are read from \
            there and not downloaded again.
            """,
        valueName: "folder")
    var originals: String?

    @Flag(
        help: """
            Leave query and fragment of URLs out of the manifest. The manifest never contains user and password; logs, \
            errors and the failures in Redis never contain user, password, query and fragment.
            """)
    var redactUrls: Bool
    @Flag(
        help: """
            Give each file the time of its photo: the Last-Modified of the server, or the time of the local file.
            """)
    var keepTimes: Bool

    func validate() throws {
        if originals == "" { throw ValidationError("--originals \"\": the folder's path is empty") }
    }

    /// Applies these options to the options of a batch.
    /// - Parameter output: The path of the output folder as the user gave it.
    /// - Throws: ``ValidationError`` if the template for file names cannot be used with the list.
    func apply(to options: inout BatchOptions, output: String, list: PhotoListReader) throws {
        do {
            options.fileName = try list.fileNameTemplate(fileName).description
        } catch {
            throw ValidationError("--file-name: \(error)")
        }
        options.photosFolder = list.photosFolder
        options.output = absolutePath(output)
        if list.format == .folder { try requireApart(list.photosFolder, options) }
        options.originals = originals.map(absolutePath) ?? ""
        options.redactURLs = redactUrls
        options.keepsTimes = keepTimes
    }

    /// Throws if files of the batch would be photos of the list when the folder of photos is read again. An output folder in
    /// the folder of photos is allowed, because it is not read as a part of the list.
    /// - Parameter photos: The real path of the folder of photos.
    private func requireApart(_ photos: String, _ options: BatchOptions) throws {
        // Compares file systems and file numbers, so that links, dots and repeated slashes in a path do not matter. An
        // output folder that does not exist yet contains no photos.
        guard !options.output.isEmpty, let output = FileIdentity(options.output) else { return }
        var names: [String] = []
        var folder = photos
        while FileIdentity(folder) != output {
            let (above, name) = Path.split(folder)
            guard let above, !name.isEmpty else { return }
            names.insert(name, at: 0)
            folder = above.isEmpty ? "/" : above
        }
        // Files are in the output folder or in a folder for each rendition, and there in a folder for each 10,000 photos.
        if let first = names.first, options.renditions.contains(where: { $0.name == first }) { names.removeFirst() }
        let isNumber = names.first.map { $0.utf8.count >= 5 && $0.utf8.allSatisfy { (48...57).contains($0) } } ?? true
        guard names.count < 2, isNumber else { return }
        throw CommandError(
            "output folder \(options.output): its files would be in the folder of the photos, \(photos), and the next run "
                + "would develop them again; choose another folder")
    }
}

/// A file or folder, also if it is reached through several paths.
private struct FileIdentity: Equatable {
    private let device: dev_t
    private let number: ino_t

    /// Follows links. Returns nil if the file cannot be examined.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        (device, number) = (status.st_dev, status.st_ino)
    }
}
