import DarkroomTransfer

/// The files of this machine. The engine reads them, so that they wait for their turn by their priorities, like transfers.
struct FileOrigin: PhotoOrigin {
    let engine: TransferEngine

    /// When the engine resolves the links of the path, it checks that the file is in a folder that may be read.
    func problem(of url: String) -> TransferError? { nil }

    func fetch(_ request: PhotoRequest, completion: @escaping FetchCompletion) {
        engine.fetch(request, completion: completion)
    }
}
