import DarkroomModel

/// Finds the table columns, or the object keys, that contain the URL and the name of a photo.
///
/// Case, and all characters except letters and digits, are ignored, so `Image URL`, `image_url` and `imageUrl` are
/// equal. If several fields match, the field whose name is earliest in these lists is chosen.
enum FieldNames {
    /// The names for columns or keys that contain URLs, the best name first.
    static let url = [
        "url", "imageurl", "photourl", "pictureurl", "imgurl", "fileurl", "downloadurl", "originalurl", "fullurl",
        "largeurl", "mediaurl", "contenturl", "sourceurl", "srcurl", "urls", "uri", "link", "href", "src", "source",
        "image",
        "photo", "picture", "img", "address", "thumbnailurl", "thumburl", "adresse", "webadresse", "lien", "enlace",
        "bild", "foto",
    ].map { Array($0.utf8) }

    /// The names for columns or keys that contain names, the best name first.
    static let name = [
        "name", "filename", "title", "caption", "label", "id", "key", "file", "titel", "bezeichnung",
        "titre", "nom", "titulo", "nombre",
    ].map { Array($0.utf8) }

    /// The rank of `field` as a URL field (0 is the best); nil if it is not a URL field.
    static func urlRank(_ field: UnsafeRawBufferPointer) -> Int? {
        if field.count == 3, field.begins(with: "url") { return 0 }
        return withNormalized(field) { rank($0, url) }
    }

    /// The rank of `field` as a name field (0 is the best); nil if it is not a name field.
    static func nameRank(_ field: UnsafeRawBufferPointer) -> Int? {
        if field.count == 4, field.begins(with: "name") { return 0 }
        return withNormalized(field) { rank($0, name) }
    }

    private static func rank(_ field: UnsafeRawBufferPointer, _ names: [[UInt8]]) -> Int? {
        names.firstIndex { $0.count == field.count && $0.elementsEqual(field) }
    }

    private static func withNormalized(_ field: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Int?)
        -> Int?
    {
        guard field.count <= 64 else { return nil }
        return withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { normal in
            var count = 0
            for byte in field where Byte.isAlphanumeric(byte) {
                normal[count] = Byte.isLetter(byte) ? byte | 0x20 : byte
                count += 1
            }
            return body(UnsafeRawBufferPointer(rebasing: normal[..<count]))
        }
    }
}
