import Foundation

/// The files of this package that tests read.
package enum TestFiles {
    /// The folder of this package.
    package static let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The path of the folder of the sample photos.
    package static let samples = package.appendingPathComponent("Tests/Samples").path

    /// The folder of files that tests compare or read, such as photos that once came out wrong.
    package static let fixtures = package.appendingPathComponent("Tests/Fixtures")

    /// The bytes of a sample photo.
    package static func sample(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(samples)/\(name)")))
    }

    /// The bytes of a file of ``fixtures``.
    package static func fixture(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: fixtures.appendingPathComponent(name)))
    }
}
