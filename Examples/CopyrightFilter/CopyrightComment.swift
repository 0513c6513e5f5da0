import Darkroom

/// Adds a comment to a JPEG file without changing its picture.
///
/// A JPEG file consists of segments: FF, a marker, a length of two bytes, and the content (ITU-T T.81, annex B). The
/// comment has the marker FE and follows the start of the file, FF D8.
struct CopyrightComment: CustomFilter {
    struct NotAJPEG: Error, CustomStringConvertible {
        let description = "only JPEG files can have a comment; the download is not a JPEG file"
    }

    let owner: String

    func main(_ photo: DownloadedPhoto) throws -> [UInt8] {
        guard photo.bytes.starts(with: [0xFF, 0xD8, 0xFF]) else { throw NotAJPEG() }
        // A long filter should check this regularly. If it is true, the result will be discarded.
        if photo.isCancelled { throw CancellationError() }
        let comment = Array("\(photo.record.name), (c) \(owner)".utf8.prefix(65_533))
        let length = comment.count + 2
        let segment = [0xFF, 0xFE, UInt8(length >> 8), UInt8(length & 0xFF)] + comment
        return Array(photo.bytes.prefix(2)) + segment + Array(photo.bytes.dropFirst(2))
    }
}
