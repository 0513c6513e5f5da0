import DarkroomConcurrency
import Testing

@testable import DarkroomLogging

/// NoteLog passes each log event as a text to a program that shows the text among its own lines.
@Suite struct NoteLogTests {
    @Test func passesTextsWithoutTimeAndRepeatsOnceASecond() {
        let (elapsed, texts) = (Locked(0), Locked<[String]>([]))
        let clock = LogClock(now: { 0 }, elapsed: { elapsed.withLock { $0 } })
        let log = NoteLog(clock: clock) { text in texts.withLock { $0.append(text) } }
        let logger = Logger(label: "l", level: .notice, handler: log)
        logger.info("unwanted")
        for photo in 1...5 {
            logger.warning("failed", key: "timeout", [.photo: .number(photo), "detail": "no answer"])
        }
        elapsed.withLock { $0 = 1000 }
        logger.writeDue()
        logger.warning("failed", key: "timeout", [.photo: 6])
        logger.flush()
        let head = "warning l: failed photo="
        #expect(
            texts.withLock { $0 } == [
                "\(head)1 detail=\"no answer\"", "\(head)5 detail=\"no answer\" leftOut=3", "\(head)6",
            ])
    }
}
