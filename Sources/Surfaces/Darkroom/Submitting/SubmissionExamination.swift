import DarkroomCoordinator
import DarkroomLists
import DarkroomModel
import DarkroomStorage

/// The effects that a submission would have: the result of ``DarkroomClient/examine(_:)``.
public struct SubmissionExamination: Sendable {
    /// An entry of the list whose photo fails before its download starts.
    public struct UnusableEntry: Sendable {
        /// The index of the photo in the batch, from 0.
        public let index: Int
        /// The line of the entry, from 1; nil if the format of the list is not divided into lines.
        public let line: Int?
        /// The name of the photo.
        public let name: String
        /// Why the photo fails.
        public let reason: FailureReason
        /// What is wrong with the entry.
        public let detail: String

        init(index: Int, line: Int?, name: String, _ problem: PhotoURL.Problem) {
            self.index = index
            self.line = line
            self.name = name
            (reason, detail) = (problem.reason, problem.detail)
        }
    }

    /// The options of the batch, with the file name template for the list.
    public let options: BatchOptions
    /// The number of photos that the batch would get.
    public let photos: Int
    /// The number of photos in the list if the batch takes a sample; otherwise nil.
    public let listedPhotos: Int?
    /// The seed of the sample; nil if the batch takes no sample.
    public let seed: Int?
    /// The number of photos that fail before their download starts, by reason.
    public let failures: [FailureReason: Int]
    /// The first 5 entries whose photos fail before their download starts.
    public let unusable: [UnusableEntry]
    /// The number of photos whose names repeat an earlier name; if the file names have no index, the number of photos whose
    /// file names repeat an earlier one on a file system that ignores case.
    public let repetitions: Int
    /// The first 3 repeated names.
    public let repeatedNames: [String]
    /// The number of photos whose names were compared. The comparison ends after 4 million different names.
    public let comparedPhotos: Int
    /// The paths of the files of the first 3 photos, relative to the output folder. If the file name extension depends
    /// on the photo, `*` replaces it.
    public let firstFiles: [String]
    /// The paths of the files of the last 3 photos, excluding those in ``firstFiles``.
    public let lastFiles: [String]
    /// Whether the output folder exists; nil if it is not on this machine.
    public let outputExists: Bool?
    /// The holder of the output folder, which is the batch that took the folder last; nil if there is none, or if the
    /// folder is not on this machine.
    public let outputHolder: BatchID?
    /// Whether the files of some photos are neither in ``firstFiles`` nor in ``lastFiles``.
    package let leavesFilesOut: Bool
    /// Whether the file names contain the index of the photo.
    package let namesHaveIndex: Bool

    private static let photosPerNote = 1 << 16

    /// Reads the whole list. Blocks.
    /// - Parameters:
    ///   - photos: The photos of the submission.
    ///   - selected: The same photos if they come from a list with a location; otherwise nil.
    ///   - outputExists: Whether the output folder exists; nil if it is not on this machine.
    ///   - fileFolders: If a single worker runs the batch, the folders from which it may read files; otherwise nil.
    ///   - onProgress: Called after every 65,536 photos with the number of photos that were read.
    package init(
        of photos: any PhotoListSource, _ selected: SelectedPhotos?, _ options: BatchOptions, outputExists: Bool?,
        fileFolders: [String]? = nil, onProgress: (Int) -> Void = { _ in }
    ) throws {
        var examination = try ListExamination(options, fileFolders: fileFolders)
        try photos.read { entry in
            examination.add(entry)
            if examination.photos % Self.photosPerNote == 0 { onProgress(examination.photos) }
            return true
        }
        guard examination.photos > 0 else { throw CoordinatorError(.emptyList, "the photo list has no photos") }
        self.options = options
        self.photos = examination.photos
        listedPhotos = selected?.listedPhotos
        seed = selected?.selection.sample?.seed
        failures = examination.reasons
        unusable = examination.unusable
        repetitions = examination.repetitions.count
        repeatedNames = examination.repetitions.examples
        comparedPhotos = examination.repetitions.compared
        firstFiles = examination.firstFiles
        lastFiles = examination.lastFiles
        leavesFilesOut = examination.leavesFilesOut
        namesHaveIndex = examination.template.hasIndex
        self.outputExists = outputExists
        outputHolder = outputExists == true ? StorageSchemes.place(options.output).holder?.batch : nil
    }
}

extension PhotoSelection {
    /// The sample; nil if the selection is not a sample.
    package var sample: Sample? { if case .sample(let sample) = self { sample } else { nil } }
}
