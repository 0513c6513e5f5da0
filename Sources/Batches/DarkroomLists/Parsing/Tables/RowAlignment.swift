import DarkroomModel

/// Finds the URL and the name in a record that has more fields than the table has columns, because a field contains
/// delimiters and is not in quotes.
///
/// - A field that begins with a space belongs to the field before it, unless fields of the header begin with a space.
/// - The URL begins in its column. If the field there does not begin with a URL, columns before the URL contain
///   delimiters, and the URL begins at the only later field that begins with a URL.
/// - If no column follows the URL, the URL is the rest of the record, unless only its first field ends like the name of
///   a picture.
/// - If columns follow, the URL consists of the fields whose combination ends like the name of a picture. Without such
///   a combination, the URL consists of its first field and the next fields with characters of paths and queries.
///
/// If several combinations are possible, empty fields at the end of the record are taken for columns without a value.
/// If several are still possible, the URL is unknown. A tab is never part of a URL.
struct RowAlignment {
    /// The places of the URL and of the name in the record.
    struct Place: Equatable {
        let url: Range<Int>
        let name: Range<Int>?
    }

    /// A part of the record: one field, or several fields that belong together.
    private struct Part {
        var range: Range<Int>
        var isQuoted: Bool
        let text: UnsafeRawBufferPointer

        init(_ range: Range<Int>, of record: UnsafeRawBufferPointer, isQuoted: Bool) {
            (self.range, self.isQuoted, text) = (range, isQuoted, record.part(range).trimmed)
        }

        var beginsWithURL: Bool { !isQuoted && PhotoURL.authorityStart(text) != nil }
    }

    let delimiter: UInt8
    let columns: Int
    let urlColumn: Int
    let nameColumn: Int?
    /// Whether fields of the header begin with a space.
    let hasSpaces: Bool
    /// Whether the URLs of the list end like the names of pictures; nil if this is unknown.
    let endLikePictures: Bool?

    /// Returns nil if the URL is unknown.
    func find(_ record: UnsafeRawBufferPointer, _ fields: [SeparatedFields.Field]) -> Place? {
        let parts = joined(record, fields.map { Part($0.range, of: record, isQuoted: $0.isQuoted) })
        if let place = place(record, parts) { return place }
        let last = parts.lastIndex { !$0.text.isEmpty || $0.isQuoted } ?? 0
        let count = max(columns, last + 1)
        guard count < parts.count, let place = place(record, Array(parts[..<count])) else { return nil }
        // If URLs of this list end like pictures, and this URL does not, the next field may be a part of the URL.
        return endLikePictures == true && !Self.endsLikeAPicture(record.part(place.url)) ? nil : place
    }

    private func place(_ record: UnsafeRawBufferPointer, _ parts: [Part]) -> Place? {
        let surplus = parts.count - columns
        guard let start = start(of: parts, surplus) else { return nil }
        let left = surplus - (start - urlColumn)
        let isWhole = left == 0 || parts[start].isQuoted || delimiter == Byte.tab
        guard let extra = isWhole ? 0 : extra(record, parts, start, left) else { return nil }
        let url = parts[start].range.lowerBound..<parts[start + extra].range.upperBound
        return Place(url: url, name: name(parts, start, extra))
    }

    /// The part at which the URL begins.
    private func start(of parts: [Part], _ surplus: Int) -> Int? {
        if parts[urlColumn].beginsWithURL || parts[urlColumn].isQuoted || urlColumn == 0 { return urlColumn }
        let starts = (urlColumn...urlColumn + surplus).filter { parts[$0].beginsWithURL }
        return starts.count > 1 ? nil : starts.first ?? urlColumn
    }

    /// The number of parts after `start` that belong to the URL; nil if it is unknown.
    private func extra(_ record: UnsafeRawBufferPointer, _ parts: [Part], _ start: Int, _ left: Int) -> Int? {
        let next = (start + 1..<parts.count).first { parts[$0].beginsWithURL || parts[$0].isQuoted } ?? parts.count
        var most = min(left, next - start - 1)
        let isLast = columns - 1 == urlColumn
        if isLast {
            // Empty fields at the end are columns without a value.
            let last = parts.lastIndex { !$0.text.isEmpty || $0.isQuoted } ?? start
            guard last < next else { return nil }
            most = max(0, last - start)
        }
        guard most > 0 else { return 0 }
        let whole = ends(record, parts[start...start + most], from: start)
        func isOfURL(_ part: Part) -> Bool { part.text.contains { "/=&".utf8.contains($0) } }
        if isLast {
            if whole == [0] { return 0 }
            if whole.last == most { return most }
            let hasSpace = parts[start + 1...start + most].contains { $0.text.contains(Byte.space) && !isOfURL($0) }
            return whole.isEmpty && !hasSpace ? most : nil
        }
        if whole.count == 1, whole[0] == 0 || endLikePictures != false { return whole[0] }
        guard whole.isEmpty, endLikePictures != true else { return nil }
        let ofURL = parts[start + 1...start + most].prefix(while: isOfURL).count
        return ofURL > 0 ? ofURL : nil
    }

    /// The numbers of parts that may follow the first part so that the URL ends like the name of a picture. Takes
    /// linear time.
    private func ends(_ record: UnsafeRawBufferPointer, _ parts: ArraySlice<Part>, from first: Int) -> [Int] {
        var start = parts[first].range.lowerBound
        while start < parts[first].range.upperBound, Byte.isBlank(record[start]) { start += 1 }
        let path = start + Self.path(of: record.part(start..<record.count)).count
        return parts.indices.filter { part in
            let end = parts[part].range.upperBound
            let url = end > path ? record.part(start..<path) : record.part(start..<end).trimmed
            return ImageEnding.length(of: url) > 0
        }
        .map { $0 - first }
    }

    private func name(_ parts: [Part], _ start: Int, _ extra: Int) -> Range<Int>? {
        guard let nameColumn else { return nil }
        if nameColumn < urlColumn {
            // If only one column precedes the URL, this column has all the parts before the URL.
            guard urlColumn == 1 else { return parts[nameColumn].range }
            return parts[0].range.lowerBound..<parts[start - 1].range.upperBound
        }
        let first = nameColumn + (start - urlColumn) + extra
        guard parts.indices.contains(first) else { return nil }
        // If only one column follows the URL, this column has all the remaining parts.
        let last = columns - 2 == urlColumn ? parts.lastIndex { !$0.text.isEmpty } ?? first : first
        return parts[first].range.lowerBound..<parts[max(first, last)].range.upperBound
    }

    /// Joins parts that begin with a space to the parts before them, unless there are more such parts than surplus
    /// parts.
    private func joined(_ record: UnsafeRawBufferPointer, _ parts: [Part]) -> [Part] {
        guard !hasSpaces, delimiter != Byte.tab else { return parts }
        let isSpaced = parts.indices.map { part in
            part > 0 && !parts[part].isQuoted && !parts[part - 1].isQuoted && !parts[part].text.isEmpty
                && record[parts[part].range.lowerBound] == Byte.space
                // The space after a whole URL begins a text.
                && !(parts[part - 1].beginsWithURL && Self.endsLikeAPicture(parts[part - 1].text))
        }
        guard isSpaced.count(where: \.self) <= parts.count - columns else { return parts }
        var joined: [Part] = []
        var first = 0
        for last in parts.indices where last + 1 == parts.count || !isSpaced[last + 1] {
            let range = parts[first].range.lowerBound..<parts[last].range.upperBound
            joined.append(first == last ? parts[last] : Part(range, of: record, isQuoted: false))
            first = last + 1
        }
        return joined
    }

    /// Whether the path of a URL ends like the name of a picture.
    static func endsLikeAPicture(_ url: UnsafeRawBufferPointer) -> Bool {
        ImageEnding.length(of: path(of: url.trimmed)) > 0
    }

    /// The part of a URL before its query and its fragment.
    private static func path(of url: UnsafeRawBufferPointer) -> Slice<UnsafeRawBufferPointer> {
        url.prefix { $0 != UInt8(ascii: "?") && $0 != Byte.hash }
    }
}
