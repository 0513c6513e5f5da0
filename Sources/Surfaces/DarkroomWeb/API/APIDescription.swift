import DarkroomHTTP

/// The description of the HTTP API: OpenAPI 3.1.
enum APIDescription {
    /// Everybody may read the document, since it tells nothing about this server.
    static let route = Route(.get, "/api/v1/openapi.json", access: .everybody, pool: .none) { _ in
        HTTPResponse(headers: [("Content-Type", "application/json")], body: .bytes(PackageResources.openapi_json))
    }
}
