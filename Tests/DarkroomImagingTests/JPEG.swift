import CJPEG
import Foundation

/// Writes all kinds of JPEGs that occur as photos.
enum JPEG {
    enum Kind: CaseIterable {
        case baseline, progressive, grey, storedAsRGB, cmyk, arithmetic, restarts, fullColour
    }

    /// `pixels` must have as many bands as the kind requires: 1, 3 or 4. `sampling` replaces the default sampling
    /// factors of each component. `scans` is the number of scans of a grey picture; each scan after the first contains
    /// one bit of one coefficient.
    static func file(
        _ pixels: Pixels, _ kind: Kind, quality: Int32 = 95, sampling: [(Int32, Int32)] = [], scans: Int = 0
    ) -> [UInt8] {
        var codec = jpeg_compress_struct()
        var errors = jpeg_error_mgr()
        codec.err = jpeg_std_error(&errors)
        jpeg_CreateCompress(&codec, JPEG_LIB_VERSION, MemoryLayout<jpeg_compress_struct>.size)
        var bytes: UnsafeMutablePointer<UInt8>?
        var count: UInt = 0
        jpeg_mem_dest(&codec, &bytes, &count)
        codec.image_width = UInt32(pixels.width)
        codec.image_height = UInt32(pixels.height)
        codec.input_components = Int32(pixels.bands)
        codec.in_color_space = pixels.bands == 1 ? JCS_GRAYSCALE : pixels.bands == 4 ? JCS_CMYK : JCS_RGB
        jpeg_set_defaults(&codec)
        jpeg_set_quality(&codec, quality, boolean(1))
        switch kind {
        case .progressive: jpeg_simple_progression(&codec)
        case .storedAsRGB: jpeg_set_colorspace(&codec, JCS_RGB)
        case .arithmetic: codec.arith_code = boolean(1)
        case .restarts: codec.restart_in_rows = 1
        case .fullColour: (codec.comp_info[0].h_samp_factor, codec.comp_info[0].v_samp_factor) = (1, 1)
        case .baseline, .grey, .cmyk: break
        }
        for (component, factors) in sampling.enumerated() {
            (codec.comp_info[component].h_samp_factor, codec.comp_info[component].v_samp_factor) = factors
        }
        let script = scanScript(scans)
        defer { script.deallocate() }
        if scans > 0 { (codec.scan_info, codec.num_scans) = (UnsafePointer(script.baseAddress), Int32(scans)) }
        jpeg_start_compress(&codec, boolean(1))
        var row = [UInt8](repeating: 0, count: pixels.width * pixels.bands)
        for y in 0..<pixels.height {
            for i in row.indices { row[i] = UInt8(pixels.values[y * row.count + i]) }
            row.withUnsafeMutableBufferPointer { row in
                var pointer = row.baseAddress
                jpeg_write_scanlines(&codec, &pointer, 1)
            }
        }
        jpeg_finish_compress(&codec)
        jpeg_destroy_compress(&codec)
        defer { free(bytes) }
        return Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
    }

    /// The first `count` of 1 + 63 * 11 scans. The first scan contains the mean of each block, each later scan one bit
    /// of one coefficient (ISO 10918-1, G.1.2).
    private static func scanScript(_ count: Int) -> UnsafeMutableBufferPointer<jpeg_scan_info> {
        let script = UnsafeMutableBufferPointer<jpeg_scan_info>.allocate(capacity: count)
        for number in 0..<count {
            var scan = jpeg_scan_info()
            scan.comps_in_scan = 1
            if number > 0 {
                let (coefficient, bit) = ((number - 1) / 11 + 1, (number - 1) % 11)
                (scan.Ss, scan.Se) = (Int32(coefficient), Int32(coefficient))
                (scan.Ah, scan.Al) = (bit == 0 ? 0 : Int32(11 - bit), Int32(10 - bit))
            }
            script.initializeElement(at: number, to: scan)
        }
        return script
    }

    /// The file with additional markers directly after its start.
    static func inserting(_ markers: [(code: UInt8, bytes: [UInt8])], into file: [UInt8]) -> [UInt8] {
        let inserted = markers.flatMap { marker in
            let length = marker.bytes.count + 2
            return [0xFF, marker.code, UInt8(length >> 8), UInt8(length & 255)] + marker.bytes
        }
        return Array(file.prefix(2)) + inserted + Array(file.dropFirst(2))
    }

    struct NoFrame: Error {}

    /// The marker of the frame header and the sampling factors of its components, `0x21` for 2 x 1 (ISO 10918-1, B.2.2).
    static func frame(of file: [UInt8]) throws -> (marker: UInt8, factors: [Int]) {
        var offset = 2
        while offset + 10 < file.count, file[offset] == 0xFF, file[offset + 1] != 0xDA {
            if [0xC0, 0xC1, 0xC2].contains(file[offset + 1]) {
                let components = Int(file[offset + 9])
                return (file[offset + 1], (0..<components).map { Int(file[offset + 11 + 3 * $0]) })
            }
            offset += 2 + Int(file[offset + 2]) << 8 + Int(file[offset + 3])
        }
        throw NoFrame()
    }

    /// The bytes of an APP1 marker: camera, orientation and, if requested, a thumbnail.
    static func exif(orientation: Int, thumbnail: Bool = false, bigEndian: Bool = true) -> [UInt8] {
        func bytes(_ number: Int, _ count: Int) -> [UInt8] {
            let little = (0..<count).map { UInt8(number >> (8 * $0) & 255) }
            return bigEndian ? little.reversed() : little
        }
        func entry(_ tag: Int, _ type: Int, _ count: Int, _ value: [UInt8]) -> [UInt8] {
            bytes(tag, 2) + bytes(type, 2) + bytes(count, 4) + value
        }
        let model = Array("Darkroom test camera\0".utf8)
        let modelOffset = 8 + 2 + 2 * 12 + 4
        let second = modelOffset + model.count + 1
        let picture = Array("THUMBNAIL OF BEFORE!".utf8)
        var tiff: [UInt8] = bigEndian ? [0x4D, 0x4D, 0, 0x2A] : [0x49, 0x49, 0x2A, 0]
        tiff += bytes(8, 4) + bytes(2, 2)
        tiff += entry(0x110, 2, model.count, bytes(modelOffset, 4))
        tiff += entry(0x112, 3, 1, bytes(orientation, 2) + [0, 0])
        tiff += bytes(thumbnail ? second : 0, 4) + model + [0]
        if thumbnail {
            tiff += bytes(3, 2) + entry(0x103, 3, 1, bytes(6, 2) + [0, 0])
            tiff += entry(0x201, 4, 1, bytes(second + 2 + 36 + 4, 4)) + entry(0x202, 4, 1, bytes(picture.count, 4))
            tiff += bytes(0, 4) + picture
        }
        return Array("Exif\0\0".utf8) + tiff
    }
}
