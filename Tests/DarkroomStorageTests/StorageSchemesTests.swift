import ErrorExpectations
import Testing

@testable import DarkroomStorage

/// Locations as users name them.
@Suite struct StorageSchemesTests {
    @Test(arguments: [
        ("/a//b/./c/", "/a/b/c"), ("b", "/base/b"), ("", "/base"), ("memory", "/base/memory"), ("/", "/"),
    ])
    func textWithoutABeginningIsAPath(text: String, location: String) throws {
        #expect(StorageSchemes.isPath(text))
        let found = try StorageSchemes.location(text) { $0.hasPrefix("/") ? $0 : "/base/" + $0 }
        #expect(found == location && StorageSchemes.place(found) is OutputFolder)
    }

    @Test(arguments: ["b", "./b", "/a/../b", "..", "/..", "/a\0b"]) func pathThatIsNotCanonicalIsRefused(text: String)
        throws
    {
        let error = try requireError(StorageError.self) { try StorageSchemes.location(text) }
        #expect(error.problem == "the path must be absolute, without \"..\"")
    }
}
