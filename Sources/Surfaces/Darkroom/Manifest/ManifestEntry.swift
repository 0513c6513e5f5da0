/// The result of one photo, from the manifest.
public struct ManifestEntry: Sendable, Equatable {
    /// A file that was written for a photo.
    public struct File: Sendable, Equatable {
        /// The name of the rendition; empty if the batch has no renditions.
        public let rendition: String
        /// The path of the file, relative to the output folder.
        public let path: String
        /// The size of the file in bytes.
        public let bytes: Int
        /// The width in pixels; nil if the file is not a picture.
        public let width: Int?
        /// The height in pixels; nil if the file is not a picture.
        public let height: Int?
        /// The SHA-256 of the file, in hexadecimal; nil if it is unknown.
        public let sha256: String?
    }

    /// The id of the batch.
    public let batch: BatchID
    /// The index, name and URL of the photo. The URL contains no user and password. If ``BatchOptions/redactURLs`` is
    /// set, it contains no query either.
    public let record: PhotoRecord
    /// The final state.
    public let state: PhotoState
    /// The details, if the photo failed; nil if there are no details beyond the reason.
    public let detail: String?
    /// The tolerated defects of the photo's file: the photo was decoded despite them. Nil if there are none.
    public let note: String?
    /// The written files, one for each rendition of the batch. Empty if the photo was not filtered.
    public let files: [File]

    init(_ line: ManifestLine) {
        batch = line.batch
        record = PhotoRecord(index: line.index, name: line.name, url: line.url)
        state =
            switch line.state {
            case PhotoState.filtered.word: .filtered
            case PhotoState.cancelled.word: .cancelled
            default: .failed(line.reason.flatMap(FailureReason.init(word:)) ?? .other)
            }
        detail = line.detail
        note = line.note
        files = line.files.compactMap { file in
            file.file.map {
                File(
                    rendition: file.rendition, path: $0, bytes: file.bytes ?? 0, width: file.width, height: file.height,
                    sha256: file.sha256)
            }
        }
    }
}
