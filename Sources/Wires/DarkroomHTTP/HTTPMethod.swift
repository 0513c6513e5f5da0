/// The method of a request.
package enum HTTPMethod: String, Sendable {
    case get = "GET", head = "HEAD", post = "POST", put = "PUT", patch = "PATCH", delete = "DELETE"

    /// Whether the method only reads (RFC 9110, section 9.2.1).
    package var isSafe: Bool { self == .get || self == .head }
}
