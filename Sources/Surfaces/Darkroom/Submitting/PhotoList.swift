import DarkroomLists

/// A photo list, and how its photos are read.
///
/// ```swift
/// var list = PhotoList("photos.csv")
/// list.urlColumn = "address"
/// list.limit = 100
/// ```
public struct PhotoList: Sendable {
    /// How quotation marks in a table are read.
    public enum Quotes: String, Sendable, CaseIterable {
        /// A field may be enclosed in quotation marks, and may then contain delimiters and line ends (RFC 4180).
        case csv
        /// A quotation mark is a character like any other.
        case literal
    }

    /// The path of a file, the path of a folder of photos, an `http:` or `https:` URL, or `-` for standard input; empty
    /// for photos from a collection.
    package var location: String
    /// The photos of a collection; nil for a list with a location.
    let records: (any PhotoListSource & Sendable)?
    /// Whether the subfolders of a folder of photos are read.
    public var isRecursive = false
    /// The column of the URLs in a CSV or TSV list, by its name in the header or by its number from 1; nil if the column
    /// is detected.
    public var urlColumn: String?
    /// The column of the names; nil if the column is detected.
    public var nameColumn: String?
    /// The reading of quotation marks in a CSV or TSV list; nil if the reading is detected.
    public var quotes: Quotes?
    /// The number of photos that are taken from the beginning of the list, at least 1; nil for all.
    public var limit: Int?
    /// The number of photos that are taken at random, in the order of the list, at least 1; nil for all.
    public var sample: Int?
    /// The seed of the sample, at least 0: the same seed takes the same photos of the same list. If it is nil, a seed is
    /// chosen.
    public var seed: Int?

    /// A list with a location.
    /// - Parameter location: the path of a file, the path of a folder of photos, an `http:` or `https:` URL, or `-` for
    ///   standard input.
    public init(_ location: String) {
        self.location = location
        records = nil
    }

    /// The photos of a collection. The properties for reading a list must not be set.
    ///
    /// ```swift
    /// let list = PhotoList([(name: "Cabin", url: "https://example.com/cabin.jpg")])
    /// ```
    /// - Parameter photos: names and URLs. A feed iterates over the photos once, and again if Redis loses confirmed
    ///   operations. If the file names have no `{index}`, the names must be unique even if case is ignored; the feed
    ///   first iterates over the photos to check this.
    public init(_ photos: some Collection<(name: String, url: String)> & Sendable) {
        location = ""
        records = PhotoRecords(photos)
    }

    /// The name of the list in messages, without the secret parts of a URL.
    package var name: String { records == nil ? PhotoListReader.displayName(location) : "photos" }
}

extension PhotoList {
    /// - Parameter continues: Whether the photos must be those of an existing batch.
    package func check(continues: Bool = false) throws(FieldError) {
        if records != nil, let field = fieldOfReading {
            throw FieldError(field, "only for a list that is read from a file, a folder or the web")
        }
        try FieldError.require(1, limit, .limit)
        try FieldError.require(1, sample, .sample)
        try FieldError.require(0, seed, .seed)
        if limit != nil, sample != nil {
            throw FieldError(.limit) { "there is \($0(.sample)), too; give only one of them" }
        }
        if seed != nil, sample == nil { throw FieldError(.seed) { "only with \($0(.sample))" } }
        if continues, sample != nil, seed == nil {
            throw FieldError(.sample) { "give the seed of the batch, with \($0(.seed))" }
        }
    }

    /// The first field that is set and applies only to a list with a location; nil if there is none.
    private var fieldOfReading: Submission.Field? {
        let given: [(Submission.Field, Bool)] = [
            (.isRecursive, isRecursive), (.urlColumn, urlColumn != nil), (.nameColumn, nameColumn != nil),
            (.quotes, quotes != nil), (.limit, limit != nil), (.sample, sample != nil), (.seed, seed != nil),
        ]
        return given.first { $0.1 }?.0
    }

    /// A seed for a sample, short enough to be typed.
    package static func newSeed() -> Int { Int.random(in: 1...999_999_999) }

    /// The photos that the batch takes. If a sample has no seed, chooses one.
    /// - Parameter earlier: The sample of an earlier run; a new sample of the same size gets the same seed.
    package func selection(earlier: PhotoSelection.Sample? = nil) -> PhotoSelection {
        if let limit { return .first(limit) }
        guard let sample else { return .all }
        let known = seed ?? (earlier?.photos == sample ? earlier?.seed : nil)
        return .sample(PhotoSelection.Sample(photos: sample, seed: known ?? Self.newSeed()))
    }

    /// Opens a list that has a location. For a sample, also counts the photos of the list.
    /// - Parameters:
    ///   - output: The output folder; when a folder of photos is read, photos in the output folder are skipped.
    ///   - selection: The photos that the batch takes.
    ///   - mayBePrivate: Whether the address of a list on the web may be private.
    ///   - limits: The limits for a list from an untrusted user; nil for none.
    ///   - remark: Called with remarks about parts of the list that were skipped, converted or guessed.
    package func open(
        except output: String?, _ selection: PhotoSelection, mayBePrivate: Bool = true, limits: ListLimits? = nil,
        remark: @escaping @Sendable (ListRemark) -> Void = { _ in }
    ) throws -> SelectedPhotos {
        var options = ListOptions()
        options.isRecursive = isRecursive
        options.except = output
        options.mayBePrivate = mayBePrivate
        options.limits = limits
        options.columns = ListColumns(url: urlColumn, name: nameColumn)
        options.quotes = quotes.flatMap { ListQuotes(rawValue: $0.rawValue) }
        return try SelectedPhotos(PhotoListReader(location, options, remark: remark), selection)
    }

    /// Calls `body` with the photos, and with the reader of a list that has a location.
    func withPhotos<Result>(
        except output: String?, _ body: (any PhotoListSource, SelectedPhotos?) throws -> Result
    ) throws -> Result {
        if let records { return try body(records, nil) }
        let photos = try open(except: output.flatMap { $0.isEmpty ? nil : $0 }, selection())
        return try body(photos, photos)
    }
}
