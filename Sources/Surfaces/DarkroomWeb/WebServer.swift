import Darkroom
import DarkroomFiles
import DarkroomHTTP

/// The web server: pages, HTTP API, thumbnails and live changes.
package final class WebServer: Sendable {
    private let site: Site
    private let service: WebService
    private let server: HTTPServer

    /// Starts the server.
    /// - Throws: ``HTTPServerError``, or ``SystemFailure`` if the scratch folder cannot be used.
    package init(_ client: DarkroomClient, _ configuration: WebConfiguration) throws {
        site = try Site(client, configuration)
        service = WebService(site, Self.routes)
        var limits = HTTPServerLimits()
        if case .header(_, let proxies) = configuration.access {
            limits.proxies = Set(proxies.compactMap(ClientNetwork.init))
        }
        server = try HTTPServer(
            service, at: configuration.address, certificate: configuration.certificate, limits: limits)
    }

    /// The address to open in a browser.
    /// - Parameter hasToken: whether the address contains the token of the server, which logs the browser in.
    package func url(withToken hasToken: Bool) -> String {
        let scheme = site.configuration.certificate == nil ? "http" : "https"
        let host =
            server.address.isEveryAddress ? ListenAddress(host: "127.0.0.1", port: server.address.port) : server.address
        let path =
            if hasToken, case .token(let token) = site.configuration.access {
                site.link("login", query: [("token", token)])
            } else {
                site.link()
            }
        return "\(scheme)://\(host)\(path)"
    }

    /// Stops listening, ends all streams, and waits for the responses that are being made.
    package func stop() {
        site.hub.close()
        server.stop()
        service.close()
    }

    static let routes: [Route] =
        pages + BatchRoutes.all + SubmissionRoutes.all + LiveRoutes.all + FileRoutes.all + PhotoRoutes.all
        + ClusterRoutes.all + [APIDescription.route] + LoginPage.routes + HealthRoutes.all + MetricsRoute.all

    private static let pages: [Route] =
        [
            StaticFile.route, BatchListPage.route, ContactSheetPage.route, PhotoDetailPage.route, WorkersPage.route,
            HostsPage.route,
        ]
        + SubmitPage.routes + BatchActions.routes + ClusterPage.routes
}
