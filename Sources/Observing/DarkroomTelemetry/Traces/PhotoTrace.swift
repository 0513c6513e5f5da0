import DarkroomModel
import DarkroomText
import DarkroomTransfer
import DarkroomWorkerState
internal import Glibc

/// The trace of a photo: a span from the claim until Redis has accepted the result, with a child span for each step.
struct PhotoTrace: Sendable {
    let id: (high: UInt64, low: UInt64)
    let operation: HeldOperation
    let photo: FinishedPhoto
    let claimed: ContinuousClock.Instant
    let reportBegan: ContinuousClock.Instant
    let reportEnded: ContinuousClock.Instant

    init(_ photo: FinishedPhoto, of accepted: AcceptedPhotos, id: (high: UInt64, low: UInt64)) {
        self.id = id
        self.photo = photo
        operation = accepted.operation
        claimed = accepted.claimed
        (reportBegan, reportEnded) = (accepted.reportBegan, accepted.reportEnded)
    }

    /// The number of spans.
    var spanCount: Int { 2 + photo.steps(since: claimed).count }

    /// Appends the spans as JSON objects, separated by commas.
    func append(to text: inout [UInt8], _ clock: TraceClock) {
        let root = UInt64.random(in: 1 ... .max)
        appendHead("photo", root, parent: nil, claimed, reportEnded, to: &text, clock)
        text += ",\"attributes\":[".utf8
        appendAttributes(to: &text)
        text += "]".utf8
        if case .failed(let reason) = photo.state {
            text += ",\"status\":{\"code\":2,\"message\":\"\(reason.word)\"}".utf8
        }
        text += "}".utf8
        for step in photo.steps(since: claimed) { appendStep(step.kind.rawValue, step.began, step.ended) }
        appendStep("report", reportBegan, reportEnded)

        func appendStep(
            _ name: String, _ began: ContinuousClock.Instant, _ ended: ContinuousClock.Instant
        ) {
            text += ",".utf8
            appendHead(name, UInt64.random(in: 1 ... .max), parent: root, began, ended, to: &text, clock)
            text += "}".utf8
        }
    }

    private func appendHead(
        _ name: String, _ span: UInt64, parent: UInt64?, _ began: ContinuousClock.Instant,
        _ ended: ContinuousClock.Instant, to text: inout [UInt8], _ clock: TraceClock
    ) {
        text += "{\"traceId\":\"\(id.high.padded(to: 16, radix: 16))\(id.low.padded(to: 16, radix: 16))\"".utf8
        text += ",\"spanId\":\"\(span.padded(to: 16, radix: 16))\"".utf8
        if let parent { text += ",\"parentSpanId\":\"\(parent.padded(to: 16, radix: 16))\"".utf8 }
        text += ",\"name\":\"\(name)\",\"kind\":1".utf8  // SPAN_KIND_INTERNAL
        text += ",\"startTimeUnixNano\":\"\(clock.nanoseconds(began))\"".utf8
        text += ",\"endTimeUnixNano\":\"\(clock.nanoseconds(ended))\"".utf8
    }

    private func appendAttributes(to text: inout [UInt8]) {
        OTLP.append("darkroom.batch.id", operation.batch.description, to: &text)
        OTLP.append("darkroom.photo.index", photo.record.index, to: &text)
        OTLP.append("darkroom.photo.result", photo.state.word, to: &text)
        OTLP.append("darkroom.photo.download.bytes", photo.bytesIn, to: &text)
        OTLP.append("darkroom.photo.output.bytes", photo.bytesOut, to: &text)
        if let host = Origin(url: photo.record.url)?.host { OTLP.append("server.address", host, to: &text) }
        if case .failed(let reason) = photo.state { OTLP.append("error.type", reason.word, to: &text) }
    }
}

/// Converts instants to the wall clock.
struct TraceClock {
    private let instant = ContinuousClock.now
    private let nanosecondsNow: Int

    init() {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        nanosecondsNow = time.tv_sec * 1_000_000_000 + time.tv_nsec
    }

    /// Nanoseconds since 1970.
    func nanoseconds(_ other: ContinuousClock.Instant) -> Int {
        let (seconds, attoseconds) = (other - instant).components
        return nanosecondsNow + Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
    }
}
