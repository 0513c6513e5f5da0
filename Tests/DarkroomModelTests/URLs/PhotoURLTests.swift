import DarkroomModel
import Testing

@Suite struct PhotoURLTests {
    @Test(arguments: [
        ("http://host/a/b.jpg", "b.jpg"), ("http://host/a/b.jpg?x=/y#z", "b.jpg"),
        ("http://host/a%20b%2Fc.jpg", "a b/c.jpg"),
        ("http://host/", "host"), ("http://host", "host"), ("https://me:pass@host:80/x/?q=1", "host"),
        ("http://host?q/x", "host"),
        ("http://[::1]:80/", "[::1]"), ("file:///photos/1.png", "1.png"), ("NO URL", "NO URL"),
        ("photos/1.jpg", "1.jpg"),
        ("", ""), ("http://host/100%", "100%"), ("http://host/%4", "%4"), ("http://host/%zz", "%zz"),
        ("http://host/%c3%a9", "é"),
        ("http://host/a/..", ".."), ("file:///", ""),
    ]) func namesAPhotoAfterItsURL(url: String, name: String) {
        #expect(PhotoURL.name(of: url) == name)
    }

    @Test(arguments: [
        "http://host/a.jpg", "HTTPS://host", "http://host:8080/x", "http://me:p%20w@host/x", "http://[::1]:80/x",
        "file:///a/b.jpg",
        "file://localhost/a.jpg", "http://host/päth/ä b.jpg", "http://münchen.example/x.jpg", "http://host?x",
    ]) func acceptsURLsThatCanBeFetched(url: String) {
        #expect(PhotoURL.check(url) == nil)
    }

    @Test(arguments: [
        ("", FailureReason.notAURL, "empty"), ("NO URL", .notAURL, "NO URL"), ("host/a.jpg", .notAURL, "host/a.jpg"),
        ("http:/host/a", .notAURL, "http:/host/a"), ("http://", .notAURL, ""), ("http:///a.jpg", .notAURL, "no host"),
        ("http://ho st/a", .notAURL, "before its path"), ("http://host/a\nb", .notAURL, "control"),
        ("http://host:99999/", .notAURL, "port"),
        ("http://host:x/", .notAURL, "port"), ("http://[::1]x/", .notAURL, "port"),
        ("see http://host/a", .notAURL, "see"),
        ("data:image/png;base64,AA", .notAURL, "data"), ("file://other/a.jpg", .notAURL, "other"),
        ("file:///", .notAURL, "no path"),
        ("ftp://host/a.jpg", .schemeDenied, "ftp"), ("ftp://x", .schemeDenied, "ftp"),
        ("s3://bucket/a.jpg", .schemeDenied, "s3"),
        (
            "URL of 30000 bytes, too long for operations of 50", .notAURL,
            "URL of 30000 bytes, too long for operations of 50"
        ),
    ]) func problemSaysWhyAnEntryCannotBeFetched(url: String, reason: FailureReason, found: String) throws {
        let problem = try #require(PhotoURL.check(url))
        #expect(problem.reason == reason)
        #expect(problem.detail.contains(found) || found.isEmpty, "\(problem.detail)")
        #expect(problem.detail.utf8.count < 300)
    }

    @Test(arguments: [
        "http://me:secret@ho st/a", "http://me:secret@host:x/", "http://me:secret@/", "http://me:secret@h/a\n?secret",
        "http://me:sec ret@host/", "http://me:sec/ret@host/", "http://me:sec?ret@host/", "me:sec/ret@host",
    ])
    func problemShowsNoPassword(url: String) throws {
        let problem = try #require(PhotoURL.check(url))
        #expect(!problem.detail.contains("sec"))
    }

    @Test func problemHasALimitedLength() throws {
        let problem = try #require(PhotoURL.check(String(repeating: "x", count: 1 << 20)))
        #expect(problem.detail.utf8.count == 203)
    }

    @Test func writesTheURLOfAFile() {
        let url = PhotoURL.file(path: Array("/my photos/ä#1.jpg".utf8) + [0xff])
        #expect(String(decoding: url, as: UTF8.self) == "file:///my%20photos/%C3%A4%231.jpg%FF")
        #expect(PhotoURL.check(String(decoding: url, as: UTF8.self)) == nil)
    }
}
