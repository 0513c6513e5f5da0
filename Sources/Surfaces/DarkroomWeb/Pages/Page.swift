import Darkroom
import DarkroomHTTP

/// A page: its content in the frame that all pages share.
struct Page {
    /// The parts of the site, in the order of the navigation.
    enum Part: String, CaseIterable {
        case batches = "Batches"
        case workers = "Workers"
        case hosts = "Hosts"
        case cluster = "Cluster"
        case submit = "Submit"
    }

    private let site: Site
    private let title: String
    private let part: Part?
    private let content: [HTML]
    /// The script of this page, in addition to the script that all pages have.
    private let script: StaticFile?
    /// Whether the page is for somebody who has not logged in, so that it must say nothing about the cluster.
    private let isPublic: Bool

    init(
        _ site: Site, title: String, part: Part?, script: StaticFile? = nil, isPublic: Bool = false, _ content: [HTML]
    ) {
        self.site = site
        self.title = title
        self.part = part
        self.content = content
        self.script = script
        self.isPublic = isPublic
    }

    func response(status: Int = 200) -> HTTPResponse {
        HTTPResponse(
            status: status, headers: [("Content-Type", "text/html; charset=utf-8")],
            body: .bytes(Array(("<!DOCTYPE html>\n" + document.markup + "\n").utf8)))
    }

    private var document: HTML {
        .element("html", ["lang": "en"], head, .element("body", [:], [skipLink, navigation, main] + scripts))
    }

    private var head: HTML {
        .element(
            "head", [:], .void("meta", ["charset": "utf-8"]),
            .void("meta", ["name": "viewport", "content": "width=device-width, initial-scale=1"]),
            .void("meta", ["name": "color-scheme", "content": "light dark"]),
            .element("title", [:], "\(title) - Darkroom"),
            .void("link", ["rel": "icon", "href": StaticFile.icon.link(site)]),
            .void("link", ["rel": "stylesheet", "href": StaticFile.style.link(site)]))
    }

    private var skipLink: HTML { .element("a", ["class": "skip", "href": "#main"], "Skip to the content") }

    private var navigation: HTML {
        let brand = HTML.element("a", ["class": "brand", "href": site.link()], "Darkroom")
        if isPublic { return .element("header", ["class": "top"], brand) }
        let links = Part.allCases.filter { $0 != .submit || site.takesLists }.map { part in
            HTML.element(
                "a", ["href": link(to: part), "aria-current": part == self.part ? "page" : nil], part.rawValue)
        }
        return .element(
            "header", ["class": "top"], brand,
            .element("nav", ["aria-label": "Parts of this site"], links),
            .element("span", ["class": "cluster", "title": "Redis and namespace"], site.client.location.description),
            site.configuration.isReadOnly ? .element("span", ["class": "badge"], "read-only") : .empty)
    }

    private var main: HTML {
        .element(
            "main", ["id": "main", "tabindex": "-1"],
            [.element("p", ["id": "notice", "role": "status", "class": "notice"])] + content)
    }

    private var scripts: [HTML] {
        [StaticFile.page, script].compactMap { file in
            file.map { .element("script", ["src": $0.link(site), "type": "module"]) }
        }
    }

    private func link(to part: Part) -> String {
        part == .batches ? site.link() : site.link(part.rawValue.lowercased())
    }
}

extension Site {
    /// Whether the site has a form to submit a list.
    var takesLists: Bool { configuration.submission != nil && !configuration.isReadOnly }

    /// A redirection to a page of this site, after a form was processed.
    func seeOther(_ address: String) -> HTTPResponse { HTTPResponse(status: 303, headers: [("Location", address)]) }
}

extension Problem {
    /// The text for users.
    var html: HTML { .element("p", ["class": "problem", "role": "alert"], detail) }
}

/// The failed request of a form: the problem for programs, and the page with the same form for browsers.
struct FormFailure: Error {
    let problem: Problem
    let page: HTTPResponse
}

/// The page for a request that failed.
struct ProblemPage {
    let site: Site
    let problem: Problem
    /// Whether the page is for somebody who has not logged in.
    let isPublic: Bool

    var response: HTTPResponse {
        Page(
            site, title: problem.title, part: nil, isPublic: isPublic,
            [
                .element("h1", [:], problem.title), problem.html,
                .element("p", [:], .element("a", ["href": site.link()], "All batches")),
            ]
        ).response(status: problem.status)
    }
}
