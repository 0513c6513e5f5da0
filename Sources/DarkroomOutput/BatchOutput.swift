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
    private let isCustom: Bool
    /// The extensions that the file of a photo may have.
    let endings: @Sendable (PhotoRecord) -> [String]

    /// - Parameter isCustom: whether a custom operation makes the files, with any file name extension.
    package init(
        _ batch: BatchID, _ options: BatchOptions, _ template: FileNameTemplate, place: OutputPlace?,
        originals: OriginalsFolder?, isCustom: Bool, endings: @escaping @Sendable (PhotoRecord) -> [String]
    ) {
        self.batch = batch
        self.place = place
        self.originals = originals
        self.template = template
        redactsQueries = options.redactURLs
        self.isCustom = isCustom
        self.endings = endings
    }

    /// The folder of the manifest, which the batch may use even if another batch has taken the output folder.
    package var manifestPlace: OutputPlace? {
        place.map { OutputPlace(folder: $0.folder, trusted: $0.trusted, marker: $0.marker) }
    }

    package var folders: [String] { [place?.folder, originals?.path].compactMap { $0 } }

    /// The path of a photo's file, relative to the output folder.
    package func path(of record: PhotoRecord, ending: String) -> String {
        var name = record.name
        // The index makes the file name unique, so an extension in the photo's name need not be repeated.
        if isCustom, template.hasIndex, FileEnding.of(name) == ending { name = String(name.dropLast(ending.count + 1)) }
        return template.path(index: record.index, name: name, ending: ending)
    }

    /// The folders of the photos' files, relative to the output folder.
    func folders(of records: [PhotoRecord]) -> Set<String> {
        Set(
            records.map { record in
                let path = template.path(index: record.index, name: record.name, ending: "")
                return Path.split(path).folder ?? ""
            })
    }
}
