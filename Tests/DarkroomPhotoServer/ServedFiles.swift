internal import CMicrohttpd
import DarkroomConcurrency
import Foundation

/// The prepared responses for the files of a folder, by path.
final class ServedFiles: @unchecked Sendable {  // responses are constant, requests are counted under a lock
    private let answers: [String: OpaquePointer]
    private let notFound: OpaquePointer
    private let notAllowed: OpaquePointer
    private let counts = Locked<[String: Int]>([:])
    private let onRequest: (@Sendable (_ path: String, _ photo: String?) -> Void)?

    init(
        folder: String, onRequest: (@Sendable (_ path: String, _ photo: String?) -> Void)?
    ) throws(PhotoServerError) {
        self.onRequest = onRequest
        let root = URL(fileURLWithPath: folder, isDirectory: true).standardizedFileURL
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: root.path, isDirectory: &isFolder), isFolder.boolValue,
            let names = FileManager.default.enumerator(atPath: root.path)
        else { throw PhotoServerError(message: "cannot serve \(folder): no such folder; name one that exists") }
        var answers: [String: OpaquePointer] = [:]
        for case let name as String in names where names.fileAttributes?[.type] as? FileAttributeType == .typeRegular {
            guard let bytes = FileManager.default.contents(atPath: root.appendingPathComponent(name).path) else {
                throw PhotoServerError(message: "cannot read \(name) in \(folder); make it readable or remove it")
            }
            answers["/" + name] = Self.answer([UInt8](bytes), type: Self.contentType(of: name))
        }
        self.answers = answers
        notFound = Self.answer(Array("not found\n".utf8), type: "text/plain")
        notAllowed = Self.answer(Array("only GET and HEAD\n".utf8), type: "text/plain")
    }

    deinit {
        for answer in answers.values { MHD_destroy_response(answer) }
        MHD_destroy_response(notFound)
        MHD_destroy_response(notAllowed)
    }

    var requests: [String: Int] { counts.withLock { $0 } }

    var paths: [String] { answers.keys.sorted() }

    /// Responds to a request. Called on libmicrohttpd's thread.
    func answer(path: String, method: String, on connection: OpaquePointer) -> MHD_Result {
        counts.withLock { $0[path, default: 0] += 1 }
        if let onRequest {
            let photo = MHD_lookup_connection_value(connection, .GET_ARGUMENT_KIND, "photo")
            onRequest(path, photo.map { String(cString: $0) })
        }
        guard method == "GET" || method == "HEAD" else {
            return MHD_queue_response(connection, UInt32(MHD_HTTP_METHOD_NOT_ALLOWED), notAllowed)
        }
        guard let answer = answers[path] else {
            return MHD_queue_response(connection, UInt32(MHD_HTTP_NOT_FOUND), notFound)
        }
        return MHD_queue_response(connection, UInt32(MHD_HTTP_OK), answer)
    }

    private static func answer(_ bytes: [UInt8], type: String) -> OpaquePointer {
        let response = bytes.withUnsafeBytes { bytes in
            MHD_create_response_from_buffer(
                bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress), .RESPMEM_MUST_COPY)
        }
        guard let response else { fatalError("no memory for a file of \(bytes.count) bytes") }
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type)
        return response
    }

    private static func contentType(of name: String) -> String {
        switch (name as NSString).pathExtension.lowercased() {
        case "jpg", "jpeg": "image/jpeg"
        case "png": "image/png"
        case "webp": "image/webp"
        case "avif": "image/avif"
        case "heic", "heif": "image/heic"
        case "jxl": "image/jxl"
        case "tif", "tiff": "image/tiff"
        case "gif": "image/gif"
        case "txt", "csv": "text/plain"
        default: "application/octet-stream"
        }
    }
}
