import DarkroomFiles
import DarkroomModel

/// The files that are made of each photo of a batch, and their names.
package struct BatchFiles: Sendable {
    package let batch: BatchID
    /// The kinds of files, in the order of the renditions; one kind without a name if the batch has no renditions.
    package let kinds: [Kind]
    /// Whether the query is removed from the URLs in the manifest.
    package let redactsQueries: Bool
    private let template: FileNameTemplate

    /// A kind of file that is made of each photo.
    package struct Kind: Sendable {
        /// The name of the rendition; empty if the batch has no renditions.
        package let rendition: String
        /// The text of the filter chain.
        package let filters: String
        /// Whether a custom filter makes the file, with any file name extension.
        let isCustom: Bool
        /// The extensions that the file of a photo may have.
        let endings: @Sendable (PhotoRecord) -> [String]

        package init(
            rendition: String, filters: String, isCustom: Bool,
            endings: @escaping @Sendable (PhotoRecord) -> [String]
        ) {
            self.rendition = rendition
            self.filters = filters
            self.isCustom = isCustom
            self.endings = endings
        }
    }

    package init(_ batch: BatchID, _ options: BatchOptions, _ template: FileNameTemplate, kinds: [Kind]) {
        self.batch = batch
        self.kinds = kinds
        self.template = template
        redactsQueries = options.redactURLs
    }

    /// The path of a photo's file, relative to the place of the batch. Each rendition has a folder.
    package func path(of record: PhotoRecord, _ kind: Kind, ending: String) -> String {
        var name = record.name
        // The index makes the file name unique, so an extension in the photo's name need not be repeated.
        if kind.isCustom, template.hasIndex, FileEnding.of(name) == ending {
            name = String(name.dropLast(ending.count + 1))
        }
        return Path.joined(kind.rendition, template.path(index: record.index, name: name, ending: ending))
    }

    /// The folders of the photos' files, relative to the place of the batch.
    func folders(of records: [PhotoRecord]) -> Set<String> {
        Set(
            records.flatMap { record in
                let path = template.path(index: record.index, name: record.name, ending: "")
                return kinds.map { Path.joined($0.rendition, Path.split(path).folder ?? "") }
            })
    }

    /// The files of a photo for the manifest.
    /// - Parameter stored: returns the path and the SHA-256 (hexadecimal) of the file at a position of `files`; nil if
    ///   files are not stored.
    package func described(
        _ files: [MadeFile], _ stored: (Int) -> (path: String, sha256: String)?
    ) -> [ManifestLine.File] {
        zip(kinds, files).enumerated().map { position, file in
            let stored = stored(position)
            return ManifestLine.File(
                rendition: file.0.rendition, filters: file.0.filters, file: stored?.path, width: file.1.width,
                height: file.1.height, bytes: file.1.byteCount, sha256: stored?.sha256)
        }
    }
}
