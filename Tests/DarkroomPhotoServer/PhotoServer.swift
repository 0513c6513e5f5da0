internal import CMicrohttpd
import DarkroomConcurrency
import DarkroomText
import Foundation

/// Serves the files of a folder over HTTP on the loopback address, for benchmarks and tests.
///
/// The files are read once, when the server starts, and are served from memory. Links are not followed. Only these
/// files can be requested, so no path leads out of the folder.
package final class PhotoServer: @unchecked Sendable {  // `daemon` is stopped under its lock, the rest is constant
    /// The port on which the server listens.
    package let port: UInt16

    private let files: ServedFiles
    private let daemon: Locked<OpaquePointer?>

    /// Reads `folder` with its subfolders and serves the files on `port`. If `port` is 0, the system chooses it.
    ///
    /// `onRequest` is called for every request with the path and the value of `photo=` in the query, so that one file
    /// can stand for many photos. It is called on the server's thread and must return quickly.
    package init(
        folder: String, port: UInt16 = 0, onRequest: (@Sendable (_ path: String, _ photo: String?) -> Void)? = nil
    ) throws(PhotoServerError) {
        files = try ServedFiles(folder: folder, onRequest: onRequest)
        let context = Unmanaged.passUnretained(files).toOpaque()  // `files` outlives the daemon, see `stop`
        let started = darkroom_mhd_start_on_loopback(
            port, Self.connectionLimit,
            { context, connection, path, method, _, _, _, request in
                // The first call for a request comes when only its header has arrived. A response to this call would
                // close the connection.
                if request!.pointee == nil {
                    request!.pointee = context
                    return .YES
                }
                let files = Unmanaged<ServedFiles>.fromOpaque(context!).takeUnretainedValue()
                return files.answer(path: String(cString: path!), method: String(cString: method!), on: connection!)
            }, context)
        guard let started else {
            throw PhotoServerError(
                message: "cannot listen on 127.0.0.1:\(port): \(systemErrorText()); choose another port")
        }
        daemon = Locked(started)
        self.port = darkroom_mhd_port(started)
    }

    deinit { stop() }

    /// The number of requests for each path, including paths without a file.
    package var requests: [String: Int] { files.requests }

    /// The paths of the files, each with a leading `/`, sorted.
    package var paths: [String] { files.paths }

    /// The URL of the file at `path`, which is relative to the folder. A leading `/` is optional.
    package func url(_ path: String) -> String {
        let relative = String(decoding: path.utf8.drop { $0 == UInt8(ascii: "/") }, as: UTF8.self)
        return "http://127.0.0.1:\(port)/"
            + (relative.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? "")
    }

    /// Closes all connections and stops serving. May be called more than once.
    package func stop() {
        if let stopping = daemon.exchange(nil) { MHD_stop_daemon(stopping) }
    }

    private static let connectionLimit: UInt32 = 16_384
}

package struct PhotoServerError: Error, CustomStringConvertible {
    package let message: String

    package var description: String { message }
}
