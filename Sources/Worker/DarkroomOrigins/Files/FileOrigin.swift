import DarkroomTransfer

/// The files of this machine. The engine reads them in the order of their priorities, like transfers.
struct FileOrigin: PhotoOrigin {
    let engine: TransferEngine

    /// Always nil. The engine checks whether the file is in an allowed folder when it resolves the links of the path.
    func problem(of url: String) -> TransferError? { nil }

    func fetch(_ request: PhotoRequest, completion: @escaping FetchCompletion) {
        engine.fetch(request, completion: completion)
    }
}
