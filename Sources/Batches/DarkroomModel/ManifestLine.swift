import DarkroomText

/// The result of a photo, as a line of JSON in the manifest.
package struct ManifestLine: Sendable, Equatable, Codable {
    package var batch: BatchID
    /// The position in the photo list, from 0.
    package var index: Int
    package var name: String
    /// The URL in the list. ``redact(query:)`` removes secrets from the URL.
    package var url: String
    /// `filtered`, `failed` or `cancelled`.
    package var state: String
    /// The filter chain, if the photo was filtered and the batch has no renditions.
    package var filters: String?
    /// The files of the renditions, if the batch has renditions. The fields about a single file are then absent.
    package var renditions: [File]?
    /// The path of the written file, relative to the output folder.
    package var file: String?
    /// The path of the downloaded bytes, relative to the folder of originals, if the batch keeps originals. The path
    /// cannot be computed from ``url``, because secrets are removed from the URL.
    package var original: String?
    /// The word for the ``FailureReason``, if the photo failed.
    package var reason: String?
    package var detail: String?
    /// The tolerated defects of the photo's file: the photo was developed despite them.
    package var note: String?
    /// The number of download attempts, if the photo failed.
    package var attempts: Int?
    /// The width of the written picture, in pixels.
    package var width: Int?
    /// The height of the written picture, in pixels.
    package var height: Int?
    /// The size of the written file, in bytes.
    package var bytes: Int?
    /// The SHA-256 of the written file, in hexadecimal.
    package var sha256: String?
    /// The duration of the download.
    package var downloadMilliseconds: Int?
    /// The duration of decoding, filtering and encoding.
    package var filterMilliseconds: Int?
    /// The duration of writing the file.
    package var writeMilliseconds: Int?

    /// A file of a rendition.
    package struct File: Sendable, Equatable, Codable {
        /// The name of the rendition.
        package var rendition: String
        package var filters: String
        /// The path of the file, relative to the output folder; nil if the batch writes no files.
        package var file: String?
        /// The width in pixels; nil if a custom filter made the file.
        package var width: Int?
        package var height: Int?
        package var bytes: Int?
        /// The SHA-256 of the file, in hexadecimal.
        package var sha256: String?

        package init(
            rendition: String, filters: String, file: String? = nil, width: Int? = nil, height: Int? = nil,
            bytes: Int? = nil, sha256: String? = nil
        ) {
            self.rendition = rendition
            self.filters = filters
            self.file = file
            self.width = width
            self.height = height
            self.bytes = bytes
            self.sha256 = sha256
        }

        /// Decodes a file in a line that other programs may have changed.
        package init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            func number(_ key: CodingKeys) throws -> Int? { try fields.checkedNumber(key) }
            rendition = try fields.decode(String.self, forKey: .rendition)
            filters = try fields.decode(String.self, forKey: .filters)
            file = try fields.decodeIfPresent(String.self, forKey: .file)
            width = try number(.width)
            height = try number(.height)
            bytes = try number(.bytes)
            sha256 = try fields.decodeIfPresent(String.self, forKey: .sha256)
        }

        fileprivate func append(to text: inout [UInt8]) {
            text.append(UInt8(ascii: "{"))
            JSONText.append("rendition", rendition, to: &text)
            JSONText.append("filters", filters, to: &text)
            JSONText.append("file", file, to: &text)
            JSONText.append("width", width, to: &text)
            JSONText.append("height", height, to: &text)
            JSONText.append("bytes", bytes, to: &text)
            JSONText.append("sha256", sha256, to: &text)
            text.append(UInt8(ascii: "}"))
        }
    }

    /// Creates the line of a photo. The caller sets the fields about the file.
    package init(batch: BatchID, record: PhotoRecord, state: PhotoState) {
        self.batch = batch
        index = record.index
        name = record.name
        url = record.url
        self.state = state.word
        if case .failed(let reason) = state { self.reason = reason.word }
    }

    /// Decodes a line of a file that other programs may have changed.
    /// - Throws: `DecodingError` if a field is missing, or if a number is outside of ``StoredBounds``.
    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        func number(_ key: CodingKeys) throws -> Int? { try fields.checkedNumber(key) }
        batch = try fields.decode(BatchID.self, forKey: .batch)
        guard let index = try fields.checkedNumber(.index, in: StoredBounds.indexes) else {
            throw DecodingError.dataCorruptedError(forKey: .index, in: fields, debugDescription: "no index")
        }
        self.index = index
        name = try fields.decode(String.self, forKey: .name)
        url = try fields.decode(String.self, forKey: .url)
        state = try fields.decode(String.self, forKey: .state)
        filters = try fields.decodeIfPresent(String.self, forKey: .filters)
        renditions = try fields.decodeIfPresent([File].self, forKey: .renditions)
        file = try fields.decodeIfPresent(String.self, forKey: .file)
        original = try fields.decodeIfPresent(String.self, forKey: .original)
        reason = try fields.decodeIfPresent(String.self, forKey: .reason)
        detail = try fields.decodeIfPresent(String.self, forKey: .detail)
        note = try fields.decodeIfPresent(String.self, forKey: .note)
        attempts = try number(.attempts)
        width = try number(.width)
        height = try number(.height)
        bytes = try number(.bytes)
        sha256 = try fields.decodeIfPresent(String.self, forKey: .sha256)
        downloadMilliseconds = try number(.downloadMilliseconds)
        filterMilliseconds = try number(.filterMilliseconds)
        writeMilliseconds = try number(.writeMilliseconds)
    }

    /// Removes the user and password from the URL, and from URLs in the name and in the detail.
    /// - Parameter query: whether query and fragment are also removed.
    package mutating func redact(query: Bool) {
        url = query ? PhotoURL.redacted(url) : PhotoURL.withoutUser(url)
        detail = detail.map { PhotoURL.redacting($0, keepsQuery: !query) }
        name = PhotoURL.redacting(name, keepsQuery: !query)
    }

    /// Returns the line as it is written to the manifest: JSON, redacted by ``redact(query:)``, and a line feed.
    package func text(redactingQuery query: Bool) -> [UInt8] {
        var line = self
        line.redact(query: query)
        var text: [UInt8] = []
        text.reserveCapacity(512)
        line.append(to: &text)
        return text
    }

    /// Appends this line as JSON and a line feed.
    package func append(to text: inout [UInt8]) {
        text.append(UInt8(ascii: "{"))
        JSONText.append("batch", batch.description, to: &text)
        JSONText.append("index", index, to: &text)
        JSONText.append("name", name, to: &text)
        JSONText.append("url", url, to: &text)
        JSONText.append("state", state, to: &text)
        JSONText.append("filters", filters, to: &text)
        if let renditions { append(renditions, to: &text) }
        JSONText.append("file", file, to: &text)
        JSONText.append("original", original, to: &text)
        JSONText.append("reason", reason, to: &text)
        JSONText.append("detail", detail, to: &text)
        JSONText.append("note", note, to: &text)
        JSONText.append("attempts", attempts, to: &text)
        JSONText.append("width", width, to: &text)
        JSONText.append("height", height, to: &text)
        JSONText.append("bytes", bytes, to: &text)
        JSONText.append("sha256", sha256, to: &text)
        JSONText.append("downloadMilliseconds", downloadMilliseconds, to: &text)
        JSONText.append("filterMilliseconds", filterMilliseconds, to: &text)
        JSONText.append("writeMilliseconds", writeMilliseconds, to: &text)
        text += [UInt8(ascii: "}"), UInt8(ascii: "\n")]
    }

    private func append(_ renditions: [File], to text: inout [UInt8]) {
        text += Array(",\"renditions\":[".utf8)
        for (position, rendition) in renditions.enumerated() {
            if position > 0 { text.append(UInt8(ascii: ",")) }
            rendition.append(to: &text)
        }
        text.append(UInt8(ascii: "]"))
    }

    /// Adds the facts about the files of the photo.
    package mutating func note(_ files: [File]) {
        guard files.count == 1, files[0].rendition.isEmpty else {
            renditions = files
            return
        }
        (filters, file, sha256) = (files[0].filters, files[0].file, files[0].sha256)
        (width, height, bytes) = (files[0].width, files[0].height, files[0].bytes)
    }

    /// The files of the photo; without renditions a single file whose rendition is empty. Empty if no file was made.
    package var files: [File] {
        if let renditions { return renditions }
        guard file != nil || bytes != nil else { return [] }
        return [
            File(
                rendition: "", filters: filters ?? "", file: file, width: width, height: height, bytes: bytes,
                sha256: sha256)
        ]
    }

    /// The paths of the written files, relative to the output folder.
    package var paths: [String] { files.compactMap(\.file) }
}

extension KeyedDecodingContainer {
    /// A number that may be absent.
    /// - Throws: `DecodingError` if the number is outside of the bounds.
    fileprivate func checkedNumber(_ key: Key, in bounds: ClosedRange<Int> = StoredBounds.numbers) throws -> Int? {
        guard let value = try decodeIfPresent(Int.self, forKey: key) else { return nil }
        guard bounds.contains(value) else {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: self, debugDescription: "\(value) is not in \(bounds)")
        }
        return value
    }
}
