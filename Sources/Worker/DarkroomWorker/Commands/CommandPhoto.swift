import DarkroomModel

/// A photo that is passed to a command.
package struct CommandPhoto: Sendable {
    /// The bytes for the standard input of the command.
    package var bytes: [UInt8]
    package var record: PhotoRecord
    /// Nil if the photo is not of a batch.
    package var batch: BatchID?
    /// The name of the rendition; empty if the batch has no renditions.
    package var rendition = ""
    /// The text after `=` in the filter `x:NAME=arguments`.
    package var arguments = ""

    package init(bytes: [UInt8], record: PhotoRecord, batch: BatchID?) {
        self.bytes = bytes
        self.record = record
        self.batch = batch
    }

    /// The longest environment variable in bytes, with its name and NUL (`MAX_ARG_STRLEN` of execve(2)).
    private static let maxVariableBytes = 128 << 10

    /// The environment variables, as `NAME=value`, of a command that gets only this photo.
    func variables() throws(PhotoProduct.Failure) -> [String] {
        var variables: [String] = []
        for (name, value) in [
            ("NAME", record.name), ("URL", record.url), ("INDEX", String(record.index)),
            ("BATCH", batch?.description ?? ""),
            ("RENDITION", rendition), ("ARGUMENTS", arguments),
        ] {
            let variable = "DARKROOM_\(name)=\(value)"
            guard !value.utf8.contains(0) else {
                throw Self.refusal("the \(name.lowercased()) of the photo contains a NUL character")
            }
            guard variable.utf8.count < Self.maxVariableBytes else {
                throw Self.refusal("the \(name.lowercased()) of the photo is too long for an environment variable")
            }
            variables.append(variable)
        }
        return variables
    }

    private static func refusal(_ detail: String) -> PhotoProduct.Failure {
        PhotoProduct.Failure(reason: .filterFailed, detail: detail)
    }

    /// The line before the bytes of this photo on the standard input of a `stream` command.
    /// - Parameter number: the number of the photo among the photos of the process, from 1.
    func header(number: Int) -> [UInt8] {
        var line: [UInt8] = []
        let header: JSON = [
            "photo": .int(number), "bytes": .int(bytes.count), "name": .string(record.name), "url": .string(record.url),
            "index": .int(record.index), "batch": .string(batch?.description ?? ""), "rendition": .string(rendition),
            "arguments": .string(arguments),
        ]
        header.append(to: &line)
        line.append(UInt8(ascii: "\n"))
        return line
    }
}
