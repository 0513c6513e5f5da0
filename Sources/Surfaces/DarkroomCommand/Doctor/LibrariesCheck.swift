import Darkroom
import DarkroomImaging
import DarkroomRecipes
import DarkroomTransfer

/// The features of the installed libraries.
struct LibraryFacts {
    var imaging = ""
    /// The version of libheif; nil if libheif reads all kinds of photos that Darkroom knows, or is not installed.
    var oldHEIF: String?
    var readable: Set<ImageFormat> = []
    var writable: Set<ImageFormat> = []
    var transfer = ""
    /// The TLS library of libcurl; nil without TLS.
    var tls: String?
    var looksUpNamesAsynchronously = true

    /// Tests the libraries of this machine.
    static func installed() -> LibraryFacts {
        let readable = Imaging.readableFormats
        // libvips may load libheif only when libvips reads its first photo. The call above reads photos, so that call
        // must come first.
        let oldHEIF = Imaging.readsSharedHEIF ? nil : Imaging.heifVersion
        return LibraryFacts(
            imaging: Imaging.vipsVersion, oldHEIF: oldHEIF, readable: readable,
            writable: Set(ImageFormat.allCases.filter(Imaging.canSave)), transfer: TransferLibrary.version,
            tls: TransferLibrary.tlsLibrary, looksUpNamesAsynchronously: TransferLibrary.looksUpNamesAsynchronously)
    }
}

/// Checks that photos can be downloaded, read and written.
struct LibrariesCheck: Check {
    let facts: LibraryFacts

    /// The formats that nearly every list needs.
    private static let needed: Set<ImageFormat> = [.jpeg, .png]

    var findings: [Finding] { [formats("read", facts.readable), formats("write", facts.writable), transfers] }

    private func formats(_ verb: String, _ able: Set<ImageFormat>) -> Finding {
        let check = "formats to \(verb)"
        let names = ImageFormat.allCases.filter(able.contains).map(\.rawValue).joined(separator: " ")
        let missing = ImageFormat.allCases.filter { !able.contains($0) }
        let old = verb == "read" ? facts.oldHEIF : nil
        let found =
            "libvips \(facts.imaging)\(old.map { ", libheif \($0)" } ?? ""): \(names.isEmpty ? "none" : names)"
        if missing.isEmpty, old != nil {
            return .warning(
                check, found,
                "HEIC photos of iOS 18 fail: install libheif 1.18 or newer; on Debian 12, libheif1 of bookworm-backports"
            )
        }
        guard !missing.isEmpty else { return .ok(check, found) }
        let list = missing.map(\.rawValue).joined(separator: ", ")
        let advice =
            "\(list) cannot be \(verb == "read" ? "read" : "written") here: install a libvips that can, with its plug-ins"
        return able.isSuperset(of: Self.needed) ? .warning(check, found, advice) : .problem(check, found, advice)
    }

    private var transfers: Finding {
        let found = "libcurl \(facts.transfer), TLS by \(facts.tls ?? "nothing")"
        if facts.tls == nil {
            return .problem("transfers", found, "photos of https: URLs cannot be fetched: install a libcurl with TLS")
        }
        guard facts.looksUpNamesAsynchronously else {
            return .warning(
                "transfers", found + ", names looked up one at a time",
                "a slow look-up holds up all transfers: install a libcurl with AsynchDNS")
        }
        return .ok("transfers", found)
    }
}
