import Testing

// `#expect(throws:)` and `#require(throws:)` return the error only from Swift 6.1 on.

/// Runs `work` and returns the error of type `E` that it throws.
///
/// If `work` throws nothing or another error, records an issue and returns nil.
public func expectError<E: Error, Result>(
    _ type: E.Type, sourceLocation: SourceLocation = #_sourceLocation, in work: () throws -> Result
) -> E? {
    do {
        record("nothing was thrown; the result is \(try work())", insteadOf: type, sourceLocation)
    } catch let error as E {
        return error
    } catch {
        record("\(error) was thrown", insteadOf: type, sourceLocation)
    }
    return nil
}

/// Runs `work` and returns the error of type `E` that it throws.
///
/// If `work` throws nothing or another error, records an issue and returns nil.
public func expectError<E: Error, Result: Sendable>(
    _ type: E.Type, isolation: isolated (any Actor)? = #isolation, sourceLocation: SourceLocation = #_sourceLocation,
    in work: () async throws -> Result
) async -> E? {
    do {
        record("nothing was thrown; the result is \(try await work())", insteadOf: type, sourceLocation)
    } catch let error as E {
        return error
    } catch {
        record("\(error) was thrown", insteadOf: type, sourceLocation)
    }
    return nil
}

/// Runs `work` and returns the error of type `E` that it throws.
///
/// If `work` throws nothing or another error, the test ends.
public func requireError<E: Error, Result>(
    _ type: E.Type, sourceLocation: SourceLocation = #_sourceLocation, in work: () throws -> Result
) throws -> E {
    let error = expectError(type, sourceLocation: sourceLocation, in: work)
    return try #require(error, sourceLocation: sourceLocation)
}

private func record(_ found: String, insteadOf type: any Error.Type, _ sourceLocation: SourceLocation) {
    Issue.record("\(type) was expected, but \(found)", sourceLocation: sourceLocation)
}
