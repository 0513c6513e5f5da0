import DarkroomRecipes
import Foundation
import Testing

@testable import DarkroomImaging

/// XMP describes the developed file, and not the photo before.
@Suite struct XMPTests {
    private static let pixels = Pixels.gradient(width: 60, height: 40)

    private static func packet(_ properties: String, elements: String = "", declarations: String = "") -> String {
        """
        <?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/">
        <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about=""
        xmlns:tiff="http://ns.adobe.com/tiff/1.0/" xmlns:xmp="http://ns.adobe.com/xap/1.0/"
        xmlns:xmpNote="http://ns.adobe.com/xmp/note/" \(declarations) xmp:Rating="4" \(properties)>\(elements)
        </rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end="w"?>
        """
    }

    private static func photo(
        _ xmp: String, orientation: Int = 6, more: [(code: UInt8, bytes: [UInt8])] = []
    ) -> [UInt8] {
        JPEG.inserting(
            [(0xE1, JPEG.exif(orientation: orientation)), FileParts.xmpSegment(xmp)] + more,
            into: JPEG.file(pixels, .baseline))
    }

    /// The XMP of a file of any format.
    private static func xmp(_ image: ImageFile) throws -> String {
        if image.format == .png {
            let keyword = Array("XML:com.adobe.xmp\0".utf8)
            let texts = FileParts.chunks(image.bytes).filter { $0.bytes.starts(with: keyword) }
            #expect(texts.count == 1 && texts[0].name == "iTXt")
            return String(decoding: texts.first?.bytes.dropFirst(22) ?? [], as: UTF8.self)
        }
        let jpeg = image.format == .jpeg ? image.bytes : try develop(image.bytes, "sepia=0", "format=jpeg").bytes
        return try #require(FileParts.xmp(jpeg))
    }

    private static let formats = ["jpeg", "png", "webp", "tiff", "avif"]

    /// An attribute, an element, another prefix, spaces, single quotes.
    @Test(arguments: formats, [6, 1]) func orientationIsOne(format: String, orientation: Int) throws {
        let packets = [
            Self.packet("tiff:Orientation=\"6\""), Self.packet("tiff:Orientation = ' 8 '"),
            Self.packet("", elements: "<tiff:Orientation>6</tiff:Orientation>"),
            Self.packet("", elements: "<tiff:Orientation\n>\n 3\n</tiff:Orientation>"),
            Self.packet("t:Orientation=\"5\"", declarations: "xmlns:t='http://ns.adobe.com/tiff/1.0/'"),
        ]
        for packet in packets {
            for chain in ["sepia", "resize=30x", "blur=1"] {
                let image = try develop(Self.photo(packet, orientation: orientation), chain, "format=\(format)")
                let xmp = try Self.xmp(image)
                #expect(xmp.contains("xmp:Rating=\"4\""))
                #expect(xmp.firstMatch(of: /[Oo]rientation[^0-9]{1,6}1\D/) != nil, "\(xmp)")
                #expect(xmp.firstMatch(of: /[Oo]rientation[^0-9]{1,6}[2-8]/) == nil, "\(xmp)")
            }
        }
    }

    /// The orientation of an element without a prefix, and one that is an attribute of the property.
    @Test(arguments: [
        "<Orientation xmlns=\"http://ns.adobe.com/tiff/1.0/\">6</Orientation>", "<tiff:Orientation rdf:value='6'/>",
        "<tiff:Orientation rdf:parseType=\"Resource\"><rdf:value>6</rdf:value></tiff:Orientation>",
        "<tiff:Orientation><rdf:Description rdf:value=\"6\"/></tiff:Orientation>",
    ])
    func orientationOfOtherFormsIsOne(element: String) throws {
        for chain in ["sepia", "blur=1"] {
            let xmp = try Self.xmp(develop(Self.photo(Self.packet("", elements: element)), chain))
            #expect(xmp.contains(element.replacingOccurrences(of: "6", with: "1")), "\(xmp)")
        }
    }

    /// These contain a text that looks like an orientation, and stay as they are.
    @Test(arguments: [
        "dc:title=\"tiff:Orientation='6'\"", "other:Orientation=\"6\"", "tiff:OrientationOfPage=\"6\"",
        "Orientation=\"6\"",
    ])
    func otherPropertiesAreKept(property: String) throws {
        let packet = Self.packet(
            property,
            elements: "<!-- <tiff:Orientation>6</tiff:Orientation> --><dc:d><![CDATA[tiff:Orientation=\"6\"]]></dc:d>",
            declarations: "xmlns:dc=\"http://purl.org/dc/elements/1.1/\" xmlns:other=\"urn:other\"")
        for chain in ["sepia", "blur=1"] {
            #expect(try Self.xmp(develop(Self.photo(packet, orientation: 1), chain)) == packet)
        }
    }

    @Test func caseOfTheIssueIsMended() throws {
        let photo = try Samples.photoCase("a01-xmp-orientation.jpg")
        for format in Self.formats {
            let image = try develop(photo, "sepia", "format=\(format)")
            #expect((image.width, image.height) == (64, 96))
            #expect(try Self.xmp(image).contains("tiff:Orientation=\"1\""))
        }
        #expect(try develop(photo, "none").bytes == photo)
    }

    // MARK: Extended XMP

    /// An extended XMP in several segments, with a value that ends in another segment than it begins.
    @Test(arguments: ["sepia", "blur=1"], [6, 1]) func extendedXMPIsKept(chain: String, orientation: Int) throws {
        let identifier = "0123456789ABCDEF0123456789ABCDEF"
        let filling = String(repeating: "x", count: 3000)
        let extended = Array(
            """
            <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
            <rdf:Description rdf:about="" xmlns:tiff="http://ns.adobe.com/tiff/1.0/" tiff:Make="\(filling)"
            tiff:Orientation="6" tiff:Model="end of it"/></rdf:RDF></x:xmpmeta>
            """.utf8)
        for partBytes in [1000, 1013, 3201, 3205, 9999] {
            let photo = Self.photo(
                Self.packet("xmpNote:HasExtendedXMP=\"\(identifier)\""), orientation: orientation,
                more: FileParts.extendedXMP(extended, identifier: identifier, partBytes: partBytes))
            let image = try develop(photo, chain).bytes
            let (identifiers, text) = FileParts.extendedXMP(image)
            let found = String(decoding: text, as: UTF8.self)
            #expect(found.contains("tiff:Orientation=\"1\"") && found.contains("end of it"))
            #expect(identifiers.count == 1 && identifiers != [identifier])
            let xmp = try #require(FileParts.xmp(image))
            #expect(xmp.contains("xmpNote:HasExtendedXMP=\"\(identifiers.first ?? "")\""))

            // The other formats have one packet of any length.
            for format in ["png", "webp"] {
                let xmp = try Self.xmp(develop(photo, chain, "format=\(format)"))
                #expect(!xmp.contains("HasExtendedXMP") && xmp.contains("end of it"))
                #expect(xmp.contains("tiff:Orientation=\"1\"") && xmp.contains("xmp:Rating=\"4\""))
            }
        }
    }

    /// The elements around the properties of extended XMP declare namespaces, too.
    @Test(arguments: ["png", "webp"]) func namespacesOfExtendedXMPAreKept(format: String) throws {
        let identifier = "0123456789ABCDEF0123456789ABCDEF"
        let extended = Array(
            """
            <x:xmpmeta xmlns:x="adobe:ns:meta/" xmlns:a="urn:outer" xmlns:b="urn:b">
            <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:a='urn:a'>
            <!-- <a:c> --><rdf:Description rdf:about="" a:One="1" b:Two="2"/>
            <rdf:Description xmlns:a="urn:inner" a:Three="3"><b:Four>4</b:Four></rdf:Description>
            </rdf:RDF></x:xmpmeta>
            """.utf8)
        let photo = Self.photo(
            Self.packet("xmpNote:HasExtendedXMP=\"\(identifier)\""),
            more: FileParts.extendedXMP(extended, identifier: identifier, partBytes: 100))
        let xmp = try Self.xmp(develop(photo, "sepia", "format=\(format)"))
        let first = try #require(xmp.firstMatch(of: /<rdf:Description[^>]*a:One="1"[^>]*>/)).0
        #expect(first.contains("xmlns:a='urn:a'") && first.contains("xmlns:b=\"urn:b\""), "\(xmp)")
        let second = try #require(xmp.firstMatch(of: /<rdf:Description[^>]*a:Three="3"[^>]*>/)).0
        #expect(second.contains("xmlns:a=\"urn:inner\"") && second.contains("xmlns:b=\"urn:b\""), "\(xmp)")
        #expect(!second.contains("urn:a'") && !xmp.contains("urn:outer") && xmp.contains("<b:Four>4</b:Four>"))
        #expect(xmp.contains("xmp:Rating=\"4\"") && xmp.hasSuffix("<?xpacket end=\"w\"?>"))
    }

    /// Declarations of strangers are not multiplied.
    @Test func extendedXMPThatWouldGrowIsLeftOut() throws {
        let identifier = "0123456789ABCDEF0123456789ABCDEF"
        let elements = String(repeating: "<a:b/>", count: 5000)
        let long = String(repeating: "x", count: 20_000)
        let extended = Array("<rdf:RDF xmlns:a='\(long)'>\(elements)</rdf:RDF>".utf8)
        let photo = Self.photo(
            Self.packet("xmpNote:HasExtendedXMP=\"\(identifier)\""),
            more: FileParts.extendedXMP(extended, identifier: identifier, partBytes: 60_000))
        let xmp = try Self.xmp(develop(photo, "sepia", "format=png"))
        #expect(xmp.contains("xmp:Rating=\"4\"") && !xmp.contains("a:b"))
    }

    /// A packet that is too long for a segment of JPEG becomes extended XMP.
    @Test func longPacketOfAPNGIsKept() throws {
        let label = String(repeating: "x", count: 70000)
        let packet = Self.packet("xmp:Label=\"\(label)\"", elements: "<xmp:Nickname>n</xmp:Nickname>")
        let text = Array("XML:com.adobe.xmp\0\0\0\0\0".utf8) + Array(packet.utf8)
        let photo = PNG.file(Self.pixels, chunks: [("iTXt", text)])
        #expect(try Self.xmp(develop(photo, "sepia")) == packet)
        let jpeg = try develop(photo, "sepia", "format=jpeg").bytes
        let (identifiers, extended) = FileParts.extendedXMP(jpeg)
        let inner = try #require(packet.firstMatch(of: /(?s)<x:xmpmeta.*<\/x:xmpmeta>/)).0
        #expect(extended == Array(inner.utf8) && identifiers.count == 1)
        #expect(try #require(FileParts.xmp(jpeg)).contains("HasExtendedXMP=\"\(identifiers.first ?? "")\""))
        #expect(try Self.xmp(develop(jpeg, "sepia", "format=png")).contains("<xmp:Nickname>n</xmp:Nickname>"))
    }

    @Test(arguments: ["sepia", "blur=1"]) func incompleteExtendedXMPIsNotWritten(chain: String) throws {
        let identifier = "0123456789ABCDEF0123456789ABCDEF"
        let parts = FileParts.extendedXMP(Array("<rdf:RDF></rdf:RDF>".utf8), identifier: identifier, partBytes: 7)
        for more in [[parts[0]], [parts[1]], [parts[0], parts[0], parts[2]], parts + parts] {
            for packet in ["xmpNote:HasExtendedXMP=\"\(identifier)\"", "xmpNote:HasExtendedXMP=\"0\"", ""] {
                let image = try develop(Self.photo(Self.packet(packet), more: more), chain).bytes
                // Colour filters copy the segments of a JPEG. Other filters write the extended XMP anew, and leave it out
                // if a part is missing.
                if chain != "sepia" { #expect(FileParts.extendedXMP(image).text == []) }
            }
        }
    }

    @Test(arguments: ["sepia", "blur=1"]) func damagedXMPIsNoFailure(chain: String) throws {
        let directory = "<Container:Directory><a/></Container:Directory>"
        let packet = Array(Self.packet("tiff:Orientation=\"6\" hdrgm:Version=\"1\"", elements: directory).utf8)
        for count in 0...packet.count {
            let segment = Array("http://ns.adobe.com/xap/1.0/\0".utf8) + packet.prefix(count)
            let file = JPEG.inserting([(0xE1, segment)], into: JPEG.file(Self.pixels, .baseline))
            #expect(throws: Never.self) { try develop(file, chain) }
        }
    }

    // MARK: PNG

    @Test func pngHasOneEXIFAndOneTextOfXMP() throws {
        let png = try develop(Self.photo(Self.packet("")), "sepia", "format=png")
        for file in [png, try develop(png.bytes, "sepia"), try develop(png.bytes, "resize=20x")] {
            let chunks = FileParts.chunks(file.bytes)
            #expect(chunks.filter { $0.name == "eXIf" }.count == 1)
            #expect(try Self.xmp(file).contains("xmp:Rating=\"4\""))
            #expect(!chunks.contains { $0.name == "zTXt" })
        }
    }
}
