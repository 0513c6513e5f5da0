import DarkroomModel
import Testing

/// Messages of the events channel as scripts and workers publish them.
@Suite struct EventTests {
    static let messages: [(String, BatchEvent.Kind)] = [
        (#""event":"submitted""#, .submitted),
        (#""event":"forgotten""#, .forgotten),
        (#""event":"isReady","value":false"#, .isReady(false)),
        (#""event":"isExecuting","value":true"#, .isExecuting(true)),
        (#""event":"isFinished","value":false"#, .isFinished(false)),
        (#""event":"isCancelled","value":true"#, .isCancelled(true)),
        (#""event":"isSuspended","part":"filtrations","value":true"#, .isSuspended(.filtrations, true)),
        (#""event":"dependencies","value":3"#, .dependencies(3)),
        (#""event":"priority","value":"veryHigh""#, .priority(.veryHigh)),
        (
            #""event":"focus","first":40,"last":60,"only":true"#,
            .focus(BatchControls.Focus(40...60, only: true))
        ),
        (#""event":"focus","first":null,"last":null,"only":null"#, .focus(nil)),
        (#""event":"limits","downloads":16,"filtrations":null"#, .limits(downloads: 16, filtrations: nil)),
        (
            #""event":"completion","round":2,"cancelled":true,"photos":10,"filtered":6,"failed":1,"cancelledPhotos":3"#,
            .completion(
                BatchEvent.Completion(round: 2, isCancelled: true, photos: 10, filtered: 6, failed: 1, cancelled: 3))
        ),
        (#""event":"claimed","operations":[3,4,17],"worker":"w-1""#, .claimed(operations: [3, 4, 17], worker: "w-1")),
        (#""event":"released","operation":4"#, .released(operation: 4)),
        (#""event":"recovered","operation":4,"leaseExpiries":2"#, .recovered(operation: 4, leaseExpiries: 2)),
        (#""event":"ended","operation":12"#, .ended(operation: 12)),
        (
            #""event":"photos","worker":"w-1","photos":{"12":"F","13":"D","14":"g","15":"C","16":"N","17":"\u00fe","18":"ÿ"}"#,
            .photos(
                [
                    12: .filtered, 13: .downloaded, 14: .failed(.timeout), 15: .cancelled, 16: .new,
                    17: .failed(.other), 18: .failed(.other),
                ], worker: "w-1")
        ),
        (#""event":"photos","photos":{"12":"C"}"#, .photos([12: .cancelled], worker: nil)),
        (#""event":"photos","worker":"w-1","photos":{},"dropped":7"#, .photos([:], worker: "w-1", dropped: 7)),
    ]

    @Test(arguments: messages) func readsPublishedMessages(_ members: String, _ kind: BatchEvent.Kind) {
        let id = "20261121-090501123-7f3a"
        let json = "{\(members),\"batch\":\"\(id)\",\"time\":1795251901123}"
        #expect(BatchEvent(json: Array(json.utf8)) == BatchEvent(kind, batch: BatchID(id), time: 1_795_251_901_123))
        #expect(BatchEvent.batch(inJSON: Array(json.utf8)) == BatchID(id))
    }

    @Test func eventOfTheClusterHasNoBatch() {
        let json = #" { "time" : 1.5e3, "event" : "isSuspended", "part" : "everything", "value" : false } "#
        #expect(BatchEvent(json: Array(json.utf8)) == BatchEvent(.isSuspended(.everything, false), time: 1500))
        #expect(BatchEvent.batch(inJSON: Array(json.utf8)) == nil)
    }

    @Test(arguments: [#"{"batch":5}"#, #"{"batch":"a b"}"#, #"["batch"]"#, #"{"batch":"x-y""#, ""])
    func invalidMessageHasNoBatch(_ json: String) { #expect(BatchEvent.batch(inJSON: Array(json.utf8)) == nil) }

    @Test(arguments: [
        #"{"event":"somethingNew","time":5,"deep":{"a":[{"b":null}],"c":1.5},"list":["x",{}]}"#,
        #"{"event":"isReady","value":"yes","time":5}"#, #"{"event":"priority","value":"huge","time":5}"#,
        #"{"event":"focus","first":9,"last":3,"time":5}"#,
        #"{"event":"claimed","operations":[1,"x"],"worker":"w","time":5}"#,
        #"{"event":"photos","worker":"w","photos":{"1":"FF"},"time":5}"#,
        #"{"event":"photos","worker":"w","photos":{"1":"\u0100"},"time":5}"#,
        #"{"event":"photos","worker":"w","photos":{"x":"F"},"time":5}"#,
        #"{"event":"recovered","operation":1,"time":5}"#,
    ]) func unknownEventKeepsItsName(_ json: String) throws {
        let event = try #require(BatchEvent(json: Array(json.utf8)))
        guard case .other(let name) = event.kind else {
            Issue.record("\(event)")
            return
        }
        #expect(json.contains("\"event\":\"\(name)\"") && event.time == 5)
    }

    @Test(arguments: [
        "", "[]", "null", "{", "{}", #"{"event":"submitted"}"#, #"{"time":1}"#, #"{"event":7,"time":1}"#,
        #"{"event":"submitted","time":1} x"#, #"{"event":"submitted","time":1e400}"#,
        #"{"event":"submitted","time":1,"batch":"../x"}"#,
    ]) func invalidMessageIsNil(_ json: String) { #expect(BatchEvent(json: Array(json.utf8)) == nil) }

    @Test func namesAreUnescaped() {
        let json = #"{"event":"ab\"\u00e9","time":1,"batch":"x\u002dy"}"#
        #expect(BatchEvent(json: Array(json.utf8)) == BatchEvent(.other("ab\"é"), batch: "x-y", time: 1))
    }
}
