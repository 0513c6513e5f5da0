import Darkroom

/// Puts a comment into a JPEG file, without touching its picture.
///
/// A JPEG file is segments: FF, a marker, two bytes of length, content (ITU-T T.81, annex B). The comment, marker FE, goes
/// right behind the beginning, FF D8.
struct CopyrightComment: PhotoOperation {
    struct NotAJPEG: Error, CustomStringConvertible {
        let description = "only JPEG files take a comment; what was downloaded is none"
    }

    let owner: String

    func main(_ photo: DownloadedPhoto) throws -> [UInt8] {
        guard photo.bytes.starts(with: [0xFF, 0xD8, 0xFF]) else { throw NotAJPEG() }
        // Long work asks now and then; nobody wants the result once this is true.
        if photo.isCancelled { throw CancellationError() }
        let comment = Array("\(photo.record.name), (c) \(owner)".utf8.prefix(65_533))
        let length = comment.count + 2
        let segment = [0xFF, 0xFE, UInt8(length >> 8), UInt8(length & 0xFF)] + comment
        return Array(photo.bytes.prefix(2)) + segment + Array(photo.bytes.dropFirst(2))
    }
}
