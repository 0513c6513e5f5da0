import DarkroomModel
import Testing

@testable import DarkroomWeb

/// Which photos without a thumbnail are remembered.
struct ThumbnailFailuresTests {
    private let failures = ThumbnailFailures()

    private func note(_ version: String, _ reason: FailureReason?) {
        failures.note(Problem(422, "noThumbnail", version), of: version, reason)
    }

    @Test(arguments: [FailureReason.damaged, .crashed, .outOfMemory, .filterTimeout])
    func failureOfThePhotoIsRemembered(reason: FailureReason) {
        note("a", reason)
        #expect(failures["a"]?.detail == "a")
        #expect(failures["b"] == nil)
    }

    @Test(arguments: [nil, FailureReason.other]) func otherFailuresAreTriedAgain(reason: FailureReason?) {
        note("a", reason)
        #expect(failures["a"] == nil)
    }

    @Test func theOldestAreForgotten() {
        for number in 0...10_000 { note("\(number)", .damaged) }
        #expect(failures["0"] == nil)
        #expect(failures["999"] == nil)
        #expect(failures["1000"] != nil)
        #expect(failures["10000"] != nil)
    }
}
