import DarkroomModel
import Testing

/// Redaction of URLs before they are shown.
@Suite struct URLRedactionTests {
    @Test(arguments: [
        ("http://host/a.jpg", "http://host/a.jpg"),
        ("https://ann:secret@host:8080/a/b.jpg?token=secret#secret", "https://host:8080/a/b.jpg"),
        ("https://ann:se@cret@host/a@b.jpg", "https://host/a@b.jpg"),
        ("https://host/?\u{301}secret", "https://host/"),
        ("https://host#\u{301}secret", "https://host"),
        ("ann:secret@host/a.jpg", "host/a.jpg"),
        ("//ann:secret@host/a.jpg", "//host/a.jpg"),
        ("http:/ann:secret@host/a.jpg", "http:/host/a.jpg"),
        ("http:\\\\ann:secret@host\\a.jpg", "http:\\\\host\\a.jpg"),
        ("redis://:secret@host:6379/1", "redis://host:6379/1"),
        ("http://ann:se/cret@host/a.jpg", "http://ann"), ("https://ann:se?cret@host/", "https://ann"),
        ("ann:secret", "ann"), ("http://[::1]:80/a", "http://[::1]:80/a"), ("http://[::1]:se/cret", "http://[::1]"),
        ("http://host:/a", "http://host:/a"), ("redis+sentinel://a:1,b:2/service", "redis+sentinel://a:1,b:2/service"),
        ("NO URL", "NO URL"), ("", ""), ("?secret", ""), ("://", "://"),
    ])
    func showsNoSecretOfAURL(_ url: String, _ shown: String) {
        #expect(PhotoURL.redacted(url) == shown)
    }

    @Test(arguments: [
        ("https://ann:secret@host:8080/a?token=1#f", "https://host:8080/a?token=1#f"),
        ("http://h/a?u=b@c", "http://h/a?u=b@c"),
        ("https://ann:se?cret@host/", "https://ann"), ("ann:secret@host/a?b", "host/a?b"), ("NO URL", "NO URL"),
        ("", ""),
    ])
    func withoutUserKeepsTheQuery(_ url: String, _ shown: String) {
        #expect(PhotoURL.withoutUser(url) == shown)
        #expect(PhotoURL.redacting("<http://u:p@h/?q>", keepsQuery: true) == "<http://h/?q>")
    }

    @Test(arguments: [
        ("ann:secret@host", "host"), ("//ann:secret@host", "host"), ("ann:se%63ret@host", "host"),
        ("https://ann:secret@host", "host"), ("https://host/ann@b.jpg", "ann@b.jpg"), ("photos/ann@b.jpg", "ann@b.jpg"),
    ])
    func nameOfAPhotoContainsNoSecret(_ url: String, _ name: String) {
        #expect(PhotoURL.name(of: url) == name)
    }

    @Test func showsNoSecretOfAnInvalidURL() {
        #expect(PhotoURL.check("ann:secret@host/a.jpg?token=secret")?.detail == "host/a.jpg")
    }

    @Test(arguments: [
        ("nothing to hide: a?b=c, d@e", "nothing to hide: a?b=c, d@e"),
        ("GET http://u:secret@h/a.jpg?k=secret failed", "GET http://h/a.jpg failed"),
        ("from \"ftp://u:secret@h/\" to <redis+sentinel://:secret@r/0>", "from \"ftp://h/\" to <redis+sentinel://r/0>"),
        ("http://a?secret http://b:secret@c", "http://a http://c"),
        ("at http://h/a.jpg: found 3://u:p@x/y?z", "at http://h/a.jpg: found 3://x/y"),
        ("http://h:80: refused (see http://h:80)", "http://h:80: refused (see http://h:80)"), ("a:// b", "a:// b"),
        ("://u:p@h", "://u:p@h"),
    ])
    func showsNoSecretOfURLsInAText(_ text: String, _ shown: String) {
        #expect(PhotoURL.redacting(text) == shown)
    }

    @Test(arguments: [(false, "?k=v"), (true, "")]) func manifestLinesHaveNoUserAnywhere(query: Bool, rest: String) {
        let url = "http://ann:hush@h/a.jpg"
        let record = PhotoRecord(index: 0, name: "of \(url)?k=v", url: url + "?k=v")
        var line = ManifestLine(batch: BatchID("b"), record: record, state: .failed(.other))
        line.detail = "a redirect to \(url)?k=v"
        line.redact(query: query)
        let shown = "http://h/a.jpg" + rest
        #expect(line.url == shown && line.name == "of " + shown && line.detail == "a redirect to " + shown)
    }
}
