internal import Glibc

/// A form in `multipart/form-data`: RFC 7578.
package struct MultipartForm: Sendable {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
        /// Whether the system caused the failure; otherwise the client caused it.
        package let isOfSystem: Bool
    }

    /// A file of the form.
    package struct File: Sendable {
        /// The name of the field.
        package let field: String
        /// The name that the client gave the file. It may contain any characters.
        package let name: String
        package let file: UploadedFile
    }

    /// The fields that are not files, in order.
    package private(set) var fields: [(name: String, value: String)] = []
    package private(set) var files: [File] = []

    private static let mostParts = 200
    private static let headBytes = 4096

    /// Reads a form from a file, and copies the files in the form to new files in the folder of `body`.
    /// - Parameter maxFieldBytes: the maximum number of bytes of all fields that are not files.
    package init(_ body: UploadedFile, boundary: String, maxFieldBytes: Int) throws(Failure) {
        guard (1...70).contains(boundary.utf8.count) else { throw Self.invalid("its boundary is missing") }
        let mapped: MappedFile
        do throws(Failure) { mapped = try MappedFile(body.path) } catch { throw error }
        let delimiter = Array("\r\n--\(boundary)".utf8)
        // No line break precedes the first delimiter.
        guard mapped.bytes.starts(with: delimiter.dropFirst(2)) else {
            throw Self.invalid("it does not begin with its boundary")
        }
        var position = delimiter.count - 2
        var fieldBytes = 0
        for _ in 0...Self.mostParts {
            let tail = mapped.bytes[position...].prefix(2)
            if tail.elementsEqual("--".utf8) { return }
            guard tail.elementsEqual("\r\n".utf8),
                let headEnd = mapped.find("\r\n\r\n".utf8, from: position, within: Self.headBytes),
                let end = mapped.find(delimiter, from: headEnd + 2)
            else { throw Self.invalid("a part has no end") }
            let head = mapped.bytes[position + 2..<max(headEnd, position + 2)]
            let content = headEnd + 4..<max(end, headEnd + 4)
            let (field, fileName) = try Self.disposition(head)
            if let fileName {
                // A form in which no file was chosen has an empty file without a name.
                if !content.isEmpty || !fileName.isEmpty {
                    files.append(File(field: field, name: fileName, file: try body.copy(mapped.bytes[content])))
                }
            } else {
                fieldBytes += content.count
                guard fieldBytes <= maxFieldBytes else {
                    throw Self.invalid("its fields have more than \(maxFieldBytes) bytes")
                }
                guard let value = String(validating: mapped.bytes[content], as: UTF8.self) else {
                    throw Self.invalid("the field \"\(field)\" is not UTF-8")
                }
                fields.append((field, value))
            }
            position = end + delimiter.count
        }
        throw Self.invalid("it has more than \(Self.mostParts) parts")
    }

    private static func invalid(_ why: String) -> Failure {
        Failure(description: "the form is not valid multipart/form-data: \(why)", isOfSystem: false)
    }

    /// The name of a part, and the name of its file; the second name is nil if the part is not a file.
    private static func disposition(_ head: Slice<UnsafeRawBufferPointer>) throws(Failure) -> (String, String?) {
        guard let text = String(validating: head, as: UTF8.self) else {
            throw invalid("a part has a head that is not UTF-8")
        }
        for line in text.split(separator: "\r\n") {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, parts[0].lowercased() == "content-disposition" else { continue }
            let value = ContentTypeField(String(parts[1]))
            guard let name = value.parameter("name") else { break }
            return (name, value.parameter("filename"))
        }
        throw invalid("a part has no name")
    }
}

/// The bytes of a file that no other program writes to.
private final class MappedFile {
    let bytes: UnsafeRawBufferPointer

    init(_ path: String) throws(MultipartForm.Failure) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        defer { if descriptor >= 0 { close(descriptor) } }
        var status = stat()
        guard descriptor >= 0, fstat(descriptor, &status) == 0 else { throw Self.failure }
        let size = Int(status.st_size)
        guard size > 0 else {
            bytes = UnsafeRawBufferPointer(start: nil, count: 0)
            return
        }
        guard let address = mmap(nil, size, PROT_READ, MAP_PRIVATE, descriptor, 0), address != MAP_FAILED else {
            throw Self.failure
        }
        bytes = UnsafeRawBufferPointer(start: address, count: size)
    }

    deinit { if let address = bytes.baseAddress { munmap(UnsafeMutableRawPointer(mutating: address), bytes.count) } }

    /// The first position of `wanted` at or after `start`; nil if `wanted` does not occur within `most` bytes.
    func find(_ wanted: some Collection<UInt8>, from start: Int, within most: Int = .max) -> Int? {
        let end = min(bytes.count, start.addingReportingOverflow(most).overflow ? .max : start + most)
        guard start < end, let address = bytes.baseAddress else { return nil }
        let wanted = Array(wanted)
        var position = start
        while position + wanted.count <= end,
            let found = memchr(address + position, Int32(wanted[0]), end - position - wanted.count + 1)
        {
            position = UnsafeRawPointer(found) - address
            if memcmp(address + position, wanted, wanted.count) == 0 { return position }
            position += 1
        }
        return nil
    }

    private static var failure: MultipartForm.Failure {
        MultipartForm.Failure(
            description: "the form cannot be read: \(String(cString: strerror(errno)))", isOfSystem: true)
    }
}

extension UploadedFile {
    /// Writes these bytes to a new file in the same folder.
    fileprivate func copy(_ bytes: Slice<UnsafeRawBufferPointer>) throws(MultipartForm.Failure) -> UploadedFile {
        guard let copy = UploadedFile(beside: self), copy.append(UnsafeRawBufferPointer(rebasing: bytes)) else {
            throw MultipartForm.Failure(
                description: "the list cannot be stored: \(String(cString: strerror(errno)))", isOfSystem: true)
        }
        copy.close()
        return copy
    }
}
