internal import CImaging
import DarkroomRecipes

/// The type of a file, detected from its content. Content-Types and file name extensions are unreliable.
enum ContentType: Equatable {
    case image(ImageFormat)
    /// A picture in an unsupported format. The value is the name of the format.
    case otherImage(String)
    /// The data of a camera's sensor. The value is the name of the format.
    case cameraRaw(String)
    /// Not a picture. The value names the content that was recognized, or says that the bytes are unknown.
    case notAnImage(String)

    init(of bytes: UnsafeRawBufferPointer) {
        let head = Array(bytes.prefix(1024))
        // Xcode's PNGs for Apple's devices begin with this chunk. Their pixels are in another order, and their data are
        // compressed without a header.
        if head.has([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]), head.has("CgBI", at: 12) {
            self = .otherImage("CgBI, Apple's variant of PNG")
        } else if let name = darkroom_raw_format(bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count) {
            // Raw formats of cameras are checked before TIFF, because many raw files are TIFFs with a small picture of
            // the photo.
            self = .cameraRaw(String(cString: name))
        } else if let format = Self.format(of: head) {
            self = .image(format)
        } else if let name = Self.otherImages.first(where: { head.has($0.bytes, at: $0.offset) })?.name {
            self = .otherImage(name)
        } else if let name = Self.documents.first(where: { head.has($0.bytes, at: $0.offset) })?.name {
            self = .notAnImage(name)
        } else {
            self = Self.text(head)
        }
    }

    private struct Signature {
        let name: String
        let bytes: [UInt8]
        let offset: Int

        init(_ name: String, _ text: String, at offset: Int = 0) {
            self.init(name, Array(text.utf8), at: offset)
        }

        init(_ name: String, _ bytes: [UInt8], at offset: Int = 0) {
            self.name = name
            self.bytes = bytes
            self.offset = offset
        }
    }

    private static func format(of head: [UInt8]) -> ImageFormat? {
        if head.has([0xFF, 0xD8, 0xFF]) { return .jpeg }
        if head.has([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return .png }
        if head.has("GIF87a") || head.has("GIF89a") { return .gif }
        if head.has("RIFF") && head.has("WEBP", at: 8) { return .webp }
        // TIFF and BigTIFF, in both byte orders.
        if head.has([0x49, 0x49, 0x2A, 0]) || head.has([0x4D, 0x4D, 0, 0x2A]) { return .tiff }
        if head.has([0x49, 0x49, 0x2B, 0]) || head.has([0x4D, 0x4D, 0, 0x2B]) { return .tiff }
        if head.has([0xFF, 0x0A]) || head.has([0, 0, 0, 0x0C, 0x4A, 0x58, 0x4C, 0x20, 0x0D, 0x0A, 0x87, 0x0A]) {
            return .jxl
        }
        return head.has("ftyp", at: 4) ? heifFormat(of: head) : nil
    }

    /// In the file type box (ISO 14496-12, 4.3), the first brand that names a codec determines the format. The major
    /// brand may name the codec, or only say that the file contains pictures.
    private static func heifFormat(of head: [UInt8]) -> ImageFormat? {
        let size = head.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        let brands = [8] + stride(from: 16, through: min(size, head.count) - 4, by: 4)
        var holdsPictures = false
        for brand in brands {
            if ["avif", "avis"].contains(where: { head.has($0, at: brand) }) { return .avif }
            if ["heic", "heix", "heim", "heis", "hevc", "hevx"].contains(where: { head.has($0, at: brand) }) {
                return .heic
            }
            holdsPictures = holdsPictures || head.has("mif1", at: brand) || head.has("msf1", at: brand)
        }
        return holdsPictures ? .heic : nil
    }

    private static let otherImages = [
        Signature("JPEG 2000", [0, 0, 0, 0x0C, 0x6A, 0x50, 0x20, 0x20]),
        Signature("JPEG 2000", [0xFF, 0x4F, 0xFF, 0x51]),
        Signature("Photoshop", "8BPS"),
        Signature("OpenEXR", [0x76, 0x2F, 0x31, 0x01]),
        Signature("Radiance", "#?RADIANCE"),
        Signature("FITS", "SIMPLE  ="),
        Signature("icon", [0, 0, 1, 0]),
        Signature("BMP", "BM"),
        Signature("DjVu", "AT&TFORM"),
        Signature("JPEG XR", [0x49, 0x49, 0xBC]),
        Signature("QOI", "qoif"),
    ]

    private static let documents = [
        Signature("a PDF document", "%PDF"),
        Signature("a PostScript document", "%!PS"),
        Signature("a ZIP archive", [0x50, 0x4B, 0x03, 0x04]),
        Signature("gzip data", [0x1F, 0x8B]),
        Signature("a program", [0x7F, 0x45, 0x4C, 0x46]),
        Signature("a program", "MZ"),
        Signature("a video", "ftyp", at: 4),
        Signature("a video", [0x1A, 0x45, 0xDF, 0xA3]),
    ]

    private static func text(_ head: [UInt8]) -> ContentType {
        if head.isEmpty { return .notAnImage("no bytes at all") }
        let text = String(decoding: head, as: UTF8.self).lowercased()
        if text.contains("<svg") { return .otherImage("SVG") }
        if text.contains("<html") || text.contains("<!doctype html") { return .notAnImage("an HTML page") }
        if text.contains("<?xml") { return .notAnImage("XML") }
        let isText = head.allSatisfy { $0 >= 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }
        return .notAnImage(isText ? "text" : "unknown bytes")
    }
}

extension [UInt8] {
    fileprivate func has(_ signature: [UInt8], at offset: Int = 0) -> Bool {
        offset + signature.count <= count && self[offset..<offset + signature.count].elementsEqual(signature)
    }

    fileprivate func has(_ signature: String, at offset: Int = 0) -> Bool {
        has(Array(signature.utf8), at: offset)
    }
}
