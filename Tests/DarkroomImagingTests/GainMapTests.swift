import DarkroomRecipes
import Foundation
import Testing

@testable import DarkroomImaging

/// A developed file has no gain map, and does not announce one.
@Suite struct GainMapTests {
    private static let pixels = Pixels.gradient(width: 60, height: 40)
    private static let announcements = [
        "hdrgm", "hdr-gain-map", "GainMap", "Container", "MotionPhoto", "MicroVideo", "MPF\0", "21496", "HDRGainMap",
    ]

    private static func announced(_ bytes: [UInt8]) -> [String] {
        announcements.filter { bytes.contains(Array($0.utf8)) }
    }

    @Test(arguments: ["sepia", "resize=40x", "blur=1", "none"], ["jpeg", "png", "webp", "tiff"])
    func ultraHDRIsNotAnnouncedAnyMore(chain: String, format: String) throws {
        let photo = try Samples.photoCase("b09-ultrahdr.jpg")
        let image = try develop(photo, chain, "format=\(format); quality=80")
        #expect(Self.announced(image.bytes) == [])
        #expect(image.lostGainMap)
        // The other properties stay.
        if format == "jpeg" { #expect(FileParts.xmp(image.bytes)?.contains("rdf:Description") == true) }
    }

    @Test func keptBytesKeepTheGainMap() throws {
        let photo = try Samples.photoCase("b09-ultrahdr.jpg")
        let image = try develop(photo, "none")
        #expect(image.bytes == photo && !image.lostGainMap)
    }

    private static func photo(_ attributes: String, _ elements: String = "", more: [(code: UInt8, bytes: [UInt8])] = [])
        -> [UInt8]
    {
        let xmp = """
            <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
            <rdf:Description xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmp:Rating="3" \(attributes)>\(elements)
            </rdf:Description></rdf:RDF></x:xmpmeta>
            """
        return JPEG.inserting([FileParts.xmpSegment(xmp)] + more, into: JPEG.file(pixels, .baseline))
    }

    /// Each of these announces something behind the picture.
    @Test(
        arguments: ["sepia", "blur=1"],
        [
            ("xmlns:g=\"http://ns.adobe.com/hdr-gain-map/1.0/\" g:Version=\"1.0\" g:GainMapMax=\"3\"", ""),
            ("xmlns:hdrgm='http://ns.adobe.com/hdr-gain-map/1.0/'", "<hdrgm:Gamma><rdf:li>1</rdf:li></hdrgm:Gamma>"),
            (
                "xmlns:G=\"http://ns.google.com/photos/1.0/camera/\" G:MotionPhoto=\"1\" G:MotionPhotoVersion=\"1\"",
                "<G:MicroVideoOffset>4711</G:MicroVideoOffset>"
            ),
            (
                "",
                "<C:Directory xmlns:C=\"http://ns.google.com/photos/1.0/container/\"><rdf:li><C:Item/></rdf:li></C:Directory>"
            ),
            ("xmlns:HDRGainMap=\"http://ns.apple.com/HDRGainMap/1.0/\" HDRGainMap:HDRGainMapVersion=\"65536\"", ""),
        ])
    func announcementsAreRemoved(chain: String, xmp: (String, String)) throws {
        let gainMap = Array("urn:iso:std:iso:ts:21496:-1\0\0\0\0\0".utf8)
        let photo = Self.photo(xmp.0, xmp.1, more: [(0xE2, gainMap), (0xE2, Array("MPF\0MM\0*".utf8))])
        for format in ["jpeg", "webp"] {
            let image = try develop(photo + Array("video behind it".utf8), chain, "format=\(format)")
            #expect(Self.announced(image.bytes) == [])
            #expect(image.bytes.contains(Array("xmp:Rating=\"3\"".utf8)))
            #expect(!image.bytes.contains(Array("video".utf8)))
            #expect(!image.lostGainMap, "there was none")
        }
    }

    /// The writer of a file chooses the prefixes. The default namespace is that of elements.
    @Test(
        arguments: ["sepia", "blur=1"],
        [
            ("xmlns:g=\"http://ns.adobe.com/hdr-gain-map/1.0/\" g:Gamma=\"1.5\"", "<g:Offset>7</g:Offset>"),
            ("", "<Gamma xmlns=\"http://ns.adobe.com/hdr-gain-map/1.0/\"><rdf:li>7</rdf:li></Gamma>"),
            ("xmlns='http://ns.adobe.com/hdr-gain-map/1.0/'", "<Offset>7</Offset>"),
            ("", "<g:Gamma xmlns:g='http://ns.adobe.com/hdr-gain-map/1.0/'><a g:Offset='7'/></g:Gamma>"),
        ])
    func announcementsWithOtherPrefixesAreRemoved(chain: String, xmp: (String, String)) throws {
        let image = try develop(Self.photo(xmp.0, xmp.1), chain).bytes
        let found = try #require(FileParts.xmp(image))
        #expect(found.contains("xmp:Rating=\"3\""))
        for text in ["Gamma", "Offset", "1.5", "7", "hdr-gain-map"] {
            #expect(!found.contains(text), "\(text): \(found)")
        }
    }

    /// The gain map is another JPEG behind the photo, which says so in one of several ways.
    @Test(arguments: ["sepia", "blur=1"]) func gainMapsOfAllKindsAreNoticed(chain: String) throws {
        let picture = JPEG.file(Self.pixels, .baseline)
        let kinds: [(code: UInt8, bytes: [UInt8])] = [
            FileParts.xmpSegment("<a xmlns:hdrgm=\"http://ns.adobe.com/hdr-gain-map/1.0/\"/>"),
            (0xE2, Array("urn:iso:std:iso:ts:21496:-1\0".utf8) + [0, 0, 0, 0]),
            FileParts.xmpSegment("<a t=\"urn:com:apple:photo:2020:aux:hdrgainmap\"/>"),
        ]
        for kind in kinds {
            let map = JPEG.inserting([kind], into: picture)
            let index: (code: UInt8, bytes: [UInt8]) = (0xE2, Array("MPF\0MM\0*".utf8))
            let announced = Self.photo("", more: [index])
            let progressive = JPEG.inserting([index], into: JPEG.file(Self.pixels, .progressive))
            #expect(try develop(announced + map, chain).lostGainMap)
            #expect(try develop(progressive + map, chain).lostGainMap)
            #expect(try !develop(announced + picture, chain).lostGainMap, "another picture, such as a preview")
        }
    }
}
