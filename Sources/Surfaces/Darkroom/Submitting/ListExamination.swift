import DarkroomFiles
internal import DarkroomImaging
import DarkroomRecipes
import DarkroomStorage
import DarkroomText
import DarkroomTransfer
import DarkroomWorker

/// Counts the photos that a batch would get from a list, the photos that fail before a download, and repeated names.
/// The memory does not grow with the list.
struct ListExamination {
    private static let mostUnusableShown = 5
    private static let mostFilesShown = 3

    private(set) var photos = 0
    /// The number of unusable entries by reason.
    private(set) var reasons: [FailureReason: Int] = [:]
    /// The first unusable entries.
    private(set) var unusable: [SubmissionExamination.UnusableEntry] = []
    /// Repeated names. If the file names have no index: repeated file names on a file system that ignores case.
    private(set) var repetitions: Repetitions
    let template: FileNameTemplate
    /// The files that are made of each photo, at least one.
    private let renditions: [PhotoRendition]
    private let operationSize: Int
    private let fileFolders: [String]?
    private var firstNames: [[UInt8]] = []
    /// The names of the last photos; the photo with index i is at i % ``mostFilesShown``.
    private var lastNames = [[UInt8]](repeating: [], count: ListExamination.mostFilesShown)

    /// - Parameters:
    ///   - options: The options of the batch.
    ///   - fileFolders: The folders from which files may be read; nil if the folders are not known.
    init(_ options: BatchOptions, fileFolders: [String]? = nil, repetitions: Repetitions = Repetitions()) throws {
        template = try FileNameTemplate(options.fileName, namesAreUnique: true)
        operationSize = options.operationSize
        // With the root folder, every file may be read.
        self.fileFolders = fileFolders?.contains("/") == true ? nil : fileFolders
        renditions = try options.completeRenditions()
        self.repetitions = repetitions
    }

    /// Adds the next entry of the list.
    mutating func add(_ entry: ListEntry) {
        let name = entry.name
        if let problem = problem(entry) {
            reasons[problem.reason, default: 0] += 1
            if unusable.count < Self.mostUnusableShown {
                let name = String(decoding: name, as: UTF8.self)
                unusable.append(.init(index: photos, line: entry.line, name: name, problem))
            }
        }
        compare(name)
        if photos < Self.mostFilesShown { firstNames.append(Array(name)) }
        let place = photos % Self.mostFilesShown
        lastNames[place].removeAll(keepingCapacity: true)
        lastNames[place] += name
        photos += 1
    }

    /// The paths of the first files, relative to the output folder.
    var firstFiles: [String] { firstNames.indices.flatMap { paths(index: $0, firstNames[$0]) } }

    /// The paths of the last files that are not in ``firstFiles``.
    var lastFiles: [String] {
        lastIndexes.flatMap { paths(index: $0, lastNames[$0 % Self.mostFilesShown]) }
    }

    private var lastIndexes: Range<Int> {
        max(photos - Self.mostFilesShown, firstNames.count)..<max(photos, firstNames.count)
    }

    /// Whether photos between the first and the last files are left out.
    var leavesFilesOut: Bool { photos > firstNames.count + lastIndexes.count }

    private func paths(index: Int, _ name: [UInt8]) -> [String] {
        renditions.map { path(index: index, name, $0) }
    }

    private func path(index: Int, _ name: [UInt8], _ rendition: PhotoRendition) -> String {
        // The extension is unknown if the format depends on the photo, or if a custom filter makes the file.
        let formats = rendition.encoding.formats(of: nil)
        let ending = formats.count == 1 && !rendition.hasAnyEnding ? formats[0].fileExtension : "*"
        return Path.joined(rendition.name, template.path(index: index, name: name, ending: ending))
    }

    /// The reason why the photo fails before its download starts; nil if its URL is usable.
    private func problem(_ photo: ListEntry) -> PhotoURL.Problem? {
        // Escaping at most doubles the length.
        guard 2 * (photo.name.count + photo.url.count + 1) > OperationEntry.maxBytes / operationSize else {
            return problem(String(decoding: photo.url, as: UTF8.self))
        }
        var entry = OperationEntry(operationSize: operationSize)
        entry.append(photo)
        return entry.records(firstIndex: 0).first.flatMap { problem($0.url) }
    }

    private func problem(_ url: String) -> PhotoURL.Problem? {
        if let problem = PhotoURL.check(url) { return problem }
        guard let fileFolders, URLScheme.of(url)?.isFile == true else { return nil }
        return ReadableFolders.denial(of: url, folders: fileFolders).map {
            PhotoURL.Problem(reason: .fileDenied, detail: $0.detail)
        }
    }

    private mutating func compare(_ name: UnsafeRawBufferPointer) {
        guard template.hasIndex else {
            let path = path(index: photos, Array(name), renditions[0])
            // Some file systems ignore case and Unicode composition. Swift's `hashValue` ignores composition.
            return repetitions.add(path.lowercased().hashValue) { path }
        }
        var hasher = Hasher()
        hasher.combine(bytes: name)
        repetitions.add(hasher.finalize()) { String(decoding: name, as: UTF8.self) }
    }
}
