import DarkroomModel

/// Plain text: one URL per line. Blank lines, and lines that begin with `#`, are skipped.
struct TextListParser: RecordReceiver {
    private var scratch = PhotoURL.Scratch()

    mutating func take(_ record: UnsafeRawBufferPointer, line: Int, _ receive: PhotoListReceiver) {
        let url = record.trimmed
        guard let first = url.first, first != Byte.hash else { return }
        ListEntry.pass(url, line: line, &scratch, to: receive)
    }
}
