import Darkroom
import DarkroomTestSupport
import ErrorExpectations
import Foundation
import Testing

@testable import DarkroomWeb

/// The fields of the HTTP API that fill the form of a submission.
@Suite struct SubmittedFieldTests {
    private func form(_ fields: [(String, String)], output: Bool = true) throws -> Submission {
        let given = (output ? [("output", "a")] : []) + fields
        return try SubmittedFields(given: given.map { (name: $0.0, value: $0.1) }, outputs: "/mnt/photos")
            .submission(of: "http://photos.example/list.csv")
    }

    /// Each field has a name in the API, or clients cannot choose it.
    @Test func everyFieldHasANameOrIsNotOfferedToClients() throws {
        let named = Submission.Field.allCases.filter {
            SubmittedFields.names.contains(SubmittedFields.name(of: $0).replacing("\"", with: ""))
        }
        #expect(named.count == SubmittedFields.names.count)
        #expect(
            Set(Submission.Field.allCases).subtracting(named) == [
                .list, .isRecursive, .encoding, .remoteOutput, .replicas,
            ])
    }

    @Test func fieldsOfTheDescriptionAreThoseOfTheServer() throws {
        let path = TestFiles.package.appendingPathComponent("Sources/Surfaces/DarkroomWeb/Assets/openapi.json")
        let document = try JSONSerialization.jsonObject(with: Data(contentsOf: path)) as? [String: Any]
        let schemas = (document?["components"] as? [String: Any])?["schemas"] as? [String: Any]
        let properties = (schemas?["Submission"] as? [String: Any])?["properties"] as? [String: Any]
        #expect(properties.map { Set($0.keys) } == Set(SubmissionRoutes.fields))
    }

    @Test func fieldsFillTheForm() throws {
        let form = try form([
            ("originals", "/mnt/photos//b/"), ("name", "n"), ("priority", "HIGH"), ("after", "x"), ("after", "y"),
            ("afterSuccess", "on"), ("filter", "sepia resize=9x9"), ("filter", "flip"), ("format", "png"),
            ("palette", "1"), ("quality", "50"), ("progressive", "false"), ("onDamaged", "accept"),
            ("animation", "keep"), ("fileName", "{index}"), ("overwrite", "true"), ("redactUrls", "true"),
            ("keepTimes", "0"), ("operationSize", "7"), ("lease", "1m"), ("window", "2k"), ("retain", "forever"),
            ("webhook", "https://h.example/"), ("urlColumn", "2"), ("nameColumn", "title"), ("quotes", "literal"),
            ("sample", "1k"), ("seed", "5"),
        ])
        #expect(form.output == "/mnt/photos/a" && form.originals == "/mnt/photos/b" && form.remoteOutput)
        #expect(form.name == "n" && form.priority == .high && form.batchesBefore == ["x", "y"] && form.afterSuccess)
        #expect(form.filters.count == 3)
        #expect(form.encoding.description == "format=png; quality=50; palette=yes")
        #expect(form.damagedPhotos == .accept && form.keepsAnimations && form.fileName == "{index}" && form.overwrite)
        #expect(form.redactURLs && !form.keepsTimes && form.operationSize == 7 && form.lease == .seconds(60))
        #expect(form.window == 2000 && form.retain == nil && form.webhook == "https://h.example/")
        #expect(form.list.urlColumn == "2" && form.list.nameColumn == "title" && form.list.quotes == .literal)
        #expect(form.list.sample == 1000 && form.list.seed == 5 && form.list.limit == nil)
    }

    /// Invalid values of all fields, and the beginnings of the messages.
    private static let invalid: [(name: String, values: [String], message: String)] = [
        ("output", ["/etc"], #""output" "/etc": this server submits only to folders in /mnt/photos"#),
        ("output", ["/mnt/photos/../x"], #""output" "/mnt/photos/../x": it must not contain ".."#),
        ("output", ["a", "b"], #""output": 2 values; give one"#),
        ("originals", ["/"], #""originals" "/": this server submits only to folders in"#),
        ("originals", ["a\u{0}b"], #""originals": the value contains a NUL character"#),
        ("name", ["a\u{1b}[2J"], #""name" "a"#), ("name", ["a\u{0}b"], #""name": the value contains a NUL"#),
        ("name", ["a", "a"], #""name": 2 values; give one"#),
        ("priority", ["urgent"], #""priority" "urgent": it can be veryLow, low"#),
        ("priority", ["hihg"], #""priority" "hihg": did you mean "high"? "#),
        ("after", (0..<101).map { "b\($0)" }, #""after": 101 batches, at most 100"#),
        ("afterSuccess", ["maybe"], #""afterSuccess" "maybe": it can be true or false"#),
        ("afterSuccess", ["true"], #""afterSuccess": name the batches that must succeed, with "after""#),
        ("filter", ["sepia; rm"], #""filter" "sepia; rm": "#),
        ("filter", ["none", "flip"], #""filter" none: none stands"#),
        ("filter", ["@/etc/passwd"], #""filter" "@/etc/passwd": character 1: "#),
        ("filter", Array(repeating: "flip", count: 101), #""filter": character "#),
        ("filter", ["none,sepia"], #""filter" "none,sepia": "#),
        ("rendition", ["x"], #""rendition" "x": "#),
        ("rendition", ["a=flip", "A=flip"], #""rendition": character 1: "#),
        ("format", ["bmp"], #""format" bmp: write one of jpeg, png"#), ("format", ["a'b"], #""format" 'a'\''b': "#),
        ("quality", ["500"], #""quality" 500: write a whole number from 1 to 100"#),
        ("quality", ["70", "80"], #""quality": 2 values; give one"#),
        ("lossless", ["yes"], #""lossless" "yes": it can be true or false"#),
        ("effort", ["99999999999999999999"], #""effort" 99999999999999999999: write a whole number from 0 to 9"#),
        ("progressive", ["2"], #""progressive" "2": it can be true or false"#),
        ("chroma", ["411"], #""chroma" 411: write 420 or 444"#), ("palette", ["x"], #""palette" "x": "#),
        ("maxBytes", ["0"], #""maxBytes" 0: write at least 100 bytes"#), ("metadata", ["gps"], #""metadata" gps: "#),
        ("background", ["plaid"], #""background" plaid: "#), ("srgb", ["x"], #""srgb" "x": "#),
        ("hdr", ["keep"], #""hdr" keep: write tone-map or fail"#),
        ("onDamaged", ["skip"], #""onDamaged" "skip": it can be fail, tolerate, accept"#),
        ("animation", ["all"], #""animation" "all": it can be first, keep"#),
        ("fileName", ["{index}", "{name}"], #""fileName": 2 values; give one"#),
        ("overwrite", ["x"], #""overwrite" "x": "#), ("redactUrls", ["x"], #""redactUrls" "x": "#),
        ("keepTimes", ["x"], #""keepTimes" "x": "#),
        ("operationSize", ["0"], #""operationSize" 0: from 1 to 1000"#),
        ("operationSize", ["9223372036854775808"], #""operationSize" "9223372036854775808": not a whole number"#),
        ("lease", ["5s"], #""lease" 5s: at least 6s"#), ("lease", ["soon"], #""lease" "soon": write a duration"#),
        ("lease", ["99999999999999999999d"], #""lease" "99999999999999999999d": too large"#),
        ("window", ["0"], #""window" 0: at least 1"#), ("window", ["-1"], #""window" "-1": write a number"#),
        (
            "retain", ["never"],
            #""retain" "never": write a duration with its unit, such as 250ms, 15s, 5m, 1m30s or 24h, or"#
        ),
        ("webhook", ["https://ann:secret@h"], #""webhook": the URL has a user or password"#),
        ("quotes", ["none"], #""quotes" "none": it can be csv, literal"#),
        ("urlColumn", ["1", "2"], #""urlColumn": 2 values"#), ("nameColumn", ["\u{0}"], #""nameColumn": the value"#),
        ("limit", ["-1"], #""limit" "-1": write a number"#), ("limit", ["0"], #""limit" 0: at least 1"#),
        ("limit", ["99999999999999999999"], #""limit" "99999999999999999999": too large"#),
        ("limit", ["1", "1"], #""limit": 2 values; give one"#), ("sample", ["0"], #""sample" 0: at least 1"#),
        ("seed", ["1"], #""seed": only with "sample""#), ("seed", ["x"], #""seed" "x": not a whole number"#),
    ]

    @Test(arguments: invalid.indices) func errorNamesTheField(_ index: Int) throws {
        let (name, values, message) = Self.invalid[index]
        let error = try requireError(FieldError.self) { try form(values.map { (name, $0) }, output: name != "output") }
        let text = error.message(SubmittedFields.name(of:))
        #expect(text.hasPrefix(message), "\(text)")
        // No option of a command, no secret, and one line.
        #expect(!text.contains("--limit") && !text.contains("ann:secret") && !text.contains("\n"), "\(text)")
        #expect(SubmittedFields.name(of: error.field) == "\"\(name)\"")
    }

    @Test func fieldsThatExcludeEachOtherAreRefused() throws {
        for (fields, message) in [
            ([("limit", "1"), ("sample", "1")], #""limit": there is "sample", too; give only one of them"#),
            ([("filter", "flip"), ("rendition", "a=flip")], #""filter": each rendition has filters"#),
            ([("format", "png"), ("chroma", "444")], #""chroma": no effect on png"#),
            (
                [("rendition", "a=flip; format=png"), ("rendition", "b=flip; chroma=444; format=png")],
                #""rendition": "#
            ),
        ] {
            let error = try requireError(FieldError.self) { try form(fields) }
            #expect(error.message(SubmittedFields.name(of:)).hasPrefix(message), "\(error)")
        }
    }

    @Test func missingFolderAndUnknownFieldsAreRefused() throws {
        let missing = try requireError(FieldError.self) { try form([], output: false) }
        #expect(missing.field == .output)
        // Options of the command and fields of the library are not fields of the API.
        for name in ["recursive", "isRecursive", "replicas", "remoteOutput", "file-name", "filters", "", "Output"] {
            let unknown = try requireError(DarkroomError.self) { try form([(name, "1")]) }
            #expect(unknown.code == .invalidOptions && unknown.message.contains("\"\(name)\""))
        }
    }

    /// A feed that continues reads the same photos; the other fields are in the batch.
    @Test func feedThatContinuesHasTheFieldsForReading() throws {
        let given = [("output", "a"), ("sample", "2"), ("seed", "3"), ("urlColumn", "u"), ("quality", "invalid")]
        let list = try SubmittedFields(given: given.map { (name: $0.0, value: $0.1) }, outputs: "/o").photoList(at: "l")
        #expect(list.sample == 2 && list.seed == 3 && list.urlColumn == "u" && list.location == "l")
        let fields = SubmittedFields(given: [(name: "sample", value: "2")], outputs: "/o")
        #expect(try requireError(FieldError.self) { try fields.photoList(at: "l") }.field == .sample)
    }
}

/// Errors of fields in replies and on the page.
@Suite(.redisServer, .serialized, .timeLimit(.minutes(5))) struct SubmittedFieldReplyTests {
    @Test(arguments: [
        ("priority", "urgent", #""priority" "urgent": "#), ("limit", "-1", #""limit" "-1": "#),
        ("operationSize", "0", #""operationSize" 0: "#), ("fileName", "../x", #""fileName": file name template"#),
        ("after", "no-such-batch", #""after": no batch "no-such-batch""#),
        ("name", "<script>\u{7}", #""name" "<script>"#),
    ])
    func problemNamesTheField(option: (name: String, value: String, text: String)) throws {
        let site = try TestSite()
        for (path, headers) in [("/api/v1/batches", [:]), ("/submit", ["Accept": "text/html"])] {
            let form = Form(
                fields: [("output", "a"), (option.name, option.value)], list: "http://photos.example/0.jpg\n")
            let login = ["Authorization": "Bearer \(TestSite.token)"]
            let reply = try site.fetch(
                "POST", path, headers: form.headers.merging(headers) { $1 }.merging(login) { $1 }, body: form.bytes)
            #expect(reply.status == 400)
            let isPage = path == "/submit"
            if !isPage { #expect(try JSONValue(reply.body)["code"]?.string == "invalidOptions") }
            if isPage { #expect(!reply.text.contains("<script>\u{7}")) }
            let text =
                isPage
                ? reply.text.replacing("&quot;", with: "\"").replacing("&lt;", with: "<").replacing("&gt;", with: ">")
                : try JSONValue(reply.body)["detail"]?.string ?? ""
            #expect(text.contains(option.text) && !text.contains("--"), "\(reply.text)")
        }
        #expect(try site.json("GET", "/batches")["batches"] == .array([]))
        #expect(try FileManager.default.contentsOfDirectory(atPath: site.scratch + "/lists") == [])
    }
}
