/// The reason why the addresses of a host name are not known.
enum NameError: Error, Equatable {
    /// The name servers say that the name does not exist or has no address.
    case notFound
    /// No name server has answered, or all have failed (SERVFAIL, REFUSED).
    case noAnswer(String)
}
