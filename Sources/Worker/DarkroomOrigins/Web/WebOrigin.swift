import DarkroomTransfer

/// The servers of the web.
struct WebOrigin: PhotoOrigin {
    let engine: TransferEngine
    let rules: FetchRules

    func problem(of url: String) -> TransferError? { rules.problem(of: url) }

    func fetch(_ request: PhotoRequest, completion: @escaping FetchCompletion) {
        engine.fetch(request, completion: completion)
    }
}
