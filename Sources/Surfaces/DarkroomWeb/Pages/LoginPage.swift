import Darkroom
import DarkroomHTTP

/// The page that asks for the token of the server.
struct LoginPage {
    private let site: Site
    private let next: String

    /// - Parameter next: the path of the page that the user wants to see.
    private init(_ site: Site, next: String) {
        self.site = site
        self.next = next
    }

    /// - Parameter request: the request that needs a login.
    init(_ site: Site, _ request: HTTPRequest) {
        self.site = site
        let path = request.target.path.map { "/" + RequestTarget.encoded($0) }.joined()
        next = request.method.isSafe ? path + Site.text(ofQuery: request.target.query.map { ($0.name, $0.value) }) : ""
    }

    /// - Parameter problem: why the last login has failed.
    func response(_ problem: Problem? = nil) -> HTTPResponse {
        Page(
            site, title: "Log in", part: nil, isPublic: true,
            [
                .element("h1", [:], "Log in"), problem?.html ?? .empty,
                .element(
                    "form", ["method": "post", "action": site.link("login"), "class": "login"],
                    .element("label", ["for": "token"], "The token of the server"),
                    .void(
                        "input",
                        [
                            "type": "password", "id": "token", "name": "token", "required": "", "autofocus": "",
                            "autocomplete": "current-password",
                        ]), .void("input", ["type": "hidden", "name": "next", "value": next]),
                    .element("button", [:], "Log in")),
            ]
        ).response(status: problem?.status ?? 401)
    }

    static let routes = [
        Route(.get, "/login", access: .everybody, pool: .none) { call in
            guard let token = call.text("token") else { return LoginPage(call.site, call.request).response() }
            return try logIn(call, token, next: nil)
        },
        // Logging in changes neither batches nor the cluster, so read-only servers allow it.
        // Everybody may send this request, so even many bodies at the same time must take little memory.
        Route(
            .post, "/login", access: .everybody, effect: Route.Effect.none, pool: .none, body: .fields(maxBytes: 4096)
        ) { call in
            let fields = try call.fields("token", "next")
            return try logIn(call, try fields.text("token") ?? "", next: try fields.text("next"))
        },
    ]

    private static func logIn(_ call: Call, _ token: String, next: String?) throws -> HTTPResponse {
        let site = call.site
        guard site.access.accepts(token: token) else {
            let problem = Problem(
                403, "wrongToken",
                "this is not the token of the server: it is printed when the server starts, or is in its token file"
            )
            throw FormFailure(problem: problem, page: LoginPage(site, next: next ?? "").response(problem))
        }
        let path = site.configuration.prefix.isEmpty ? "/" : site.configuration.prefix
        var response = site.seeOther(site.isOwnPath(next) ? next ?? "" : site.link())
        response.headers.append(
            (
                "Set-Cookie",
                "\(site.access.cookie(of: call.request))=\(site.access.sessionCookie); Path=\(path); HttpOnly; SameSite=Strict; Max-Age=2592000"
                    + (site.access.isEncrypted(call.request) ? "; Secure" : "")
            ))
        return response
    }
}

extension Site {
    /// Whether a text is the path of a page of this site, not the address of another site.
    fileprivate func isOwnPath(_ text: String?) -> Bool {
        guard let text, text.utf8.starts(with: (configuration.prefix + "/").utf8) else { return false }
        return !text.utf8.dropFirst().starts(with: "/".utf8) && text.utf8.allSatisfy { $0 > 32 && $0 != 92 && $0 < 127 }
            && text != link("login")
    }
}
