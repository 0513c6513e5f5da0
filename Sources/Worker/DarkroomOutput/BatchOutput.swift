import DarkroomFileNames
import DarkroomFiles
import DarkroomModel

/// The folders of a batch, and the names of its files.
package struct BatchOutput: Sendable {
    package let batch: BatchID
    /// The output folder; nil if the batch writes no files.
    package let place: OutputPlace?
    /// The folder of the downloaded bytes; nil if the bytes are not kept.
    package let originals: OriginalsFolder?
    let template: FileNameTemplate
    let redactsQueries: Bool
    /// The files that are made of each photo.
    package let files: [File]

    /// A kind of file that is made of each photo.
    package struct File: Sendable {
        /// The name of the rendition; empty if the batch has no renditions.
        package let rendition: String
        /// The text of the filter chain.
        package let filters: String
        /// Whether a custom operation makes the file, with any file name extension.
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

    package init(
        _ batch: BatchID, _ options: BatchOptions, _ template: FileNameTemplate, place: OutputPlace?,
        originals: OriginalsFolder?, files: [File]
    ) {
        self.batch = batch
        self.place = place
        self.originals = originals
        self.template = template
        redactsQueries = options.redactURLs
        self.files = files
    }

    /// The folder of the manifest, which the batch may use even if another batch has taken the output folder.
    package var manifestPlace: OutputPlace? {
        place.map { OutputPlace(folder: $0.folder, trusted: $0.trusted, marker: $0.marker) }
    }

    package var folders: [String] { [place?.folder, originals?.path].compactMap { $0 } }

    /// The path of a photo's file, relative to the output folder. Renditions are in folders of their own.
    package func path(of record: PhotoRecord, _ file: File, ending: String) -> String {
        var name = record.name
        // The index makes the file name unique, so an extension in the photo's name need not be repeated.
        if file.isCustom, template.hasIndex, FileEnding.of(name) == ending {
            name = String(name.dropLast(ending.count + 1))
        }
        return Path.joined(file.rendition, template.path(index: record.index, name: name, ending: ending))
    }

    /// The paths of a photo's files, in the order of the renditions.
    package func paths(of record: PhotoRecord, endings: [String]) -> [String] {
        zip(files, endings).map { path(of: record, $0, ending: $1) }
    }

    /// The folders of the photos' files, relative to the output folder.
    func folders(of records: [PhotoRecord]) -> Set<String> {
        Set(
            records.flatMap { record in
                let path = template.path(index: record.index, name: record.name, ending: "")
                return files.map { Path.joined($0.rendition, Path.split(path).folder ?? "") }
            })
    }
}
