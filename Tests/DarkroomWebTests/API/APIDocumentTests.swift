import Darkroom
import DarkroomModel
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomCommand
@testable import DarkroomWeb

/// The OpenAPI document has all routes, fields and words, and nothing else.
@Suite(.redisServer, .serialized, .timeLimit(.minutes(5)))
struct APIDocumentTests {
    private let contract = TestSite.contract

    private var routes: [Route] {
        WebServer.routes.filter { $0.pattern.text.hasPrefix(APIContract.root + "/") }
    }

    private func name(of route: Route) -> String {
        "\(route.method.rawValue) \(route.pattern.text.dropFirst(APIContract.root.count))"
    }

    @Test func everyRouteIsDescribedAndTheReverse() {
        #expect(routes.map(name).sorted() == contract.operations.map(\.name))
    }

    @Test func loginsAndBodiesAreThoseOfTheRoutes() throws {
        for route in routes {
            let operation = try #require(contract.operations.first { $0.name == name(of: route) })
            let isOpen = operation.description["security"] == .array([])
            #expect(isOpen == (route.access == .everybody), "\(operation.name)")
            let hasBody = operation.description["requestBody"] != nil
            // DELETE may have a body, but needs none.
            #expect(hasBody == (route.body != .none) || route.method == .delete, "\(operation.name)")
            let parameters = (operation.description["parameters"]?.array ?? []).compactMap {
                contract.checker.followed($0)
            }
            let inPath = parameters.filter { $0["in"]?.string == "path" }.compactMap { $0["name"]?.string }
            let expected = operation.path.matches(of: #/\{([a-z]+)\}/#).map { String($0.1) }
            #expect(inPath.sorted() == expected.sorted(), "\(operation.name)")
            let inQuery = parameters.filter { $0["in"]?.string == "query" }.map { parameter in
                "\(parameter["name"]?.string ?? "") \(parameter["schema"]?["type"]?.string == "array")"
            }
            #expect(
                inQuery.sorted() == route.query.map { "\($0.name) \($0.isRepeatable)" }.sorted(), "\(operation.name)")
        }
    }

    /// A field that no route has is refused with the names of the fields.
    @Test func fieldsAreThoseOfTheRoutes() throws {
        let site = try TestSite()
        let id = try "\(site.submit())"
        for operation in contract.operations {
            let contents = operation.description["requestBody"]?["content"]
            guard let schema = contract.checker.followed(contents?["application/json"]?["schema"]) else { continue }
            let path = operation.path.replacing("{batch}", with: id).replacing("{stream}", with: "none")
            let reply = try site.call(operation.method, path, #"{"nothing": 1}"#)
            let detail = try #require(try JSONValue(reply.body)["detail"]?.string)
            let named = try #require(detail.firstMatch(of: #/possible: (.+)$/#), "\(operation.name): \(detail)").1
            let fields = named.split(separator: ", ").map(String.init)
            #expect(fields.sorted() == (schema["properties"]?.object ?? [:]).keys.sorted(), "\(operation.name)")
        }
    }

    /// A parameter that a route does not have is refused with the names of the parameters, and so is a repeated one.
    @Test func parametersAreThoseOfTheRoutes() throws {
        let site = try TestSite()
        let id = try "\(site.submit())"
        for route in routes where route.body != .upload {
            let path = route.pattern.text.dropFirst(APIContract.root.count).replacing("{batch}", with: id)
                .replacing("{index}", with: "0").replacing("{stream}", with: "none")
            func refuses(_ query: String, _ text: String) throws {
                let reply = try site.call(route.method.rawValue, "\(path)?\(query)")
                let problem = try JSONValue(reply.body)
                #expect(reply.status == 400 && problem["code"]?.string == "invalidParameter", "\(reply.text)")
                #expect(problem["detail"]?.string?.hasPrefix(text) == true, "\(name(of: route)): \(reply.text)")
            }
            let names = route.query.map(\.name).joined(separator: ", ")
            let known = names.isEmpty ? "none is possible here" : "possible: " + names
            try refuses("nothing=1", "no parameter is called \"nothing\"; \(known)")
            for parameter in route.query where !parameter.isRepeatable {
                try refuses(
                    "\(parameter.name)=&\(parameter.name)=1", "the parameter \"\(parameter.name)\" is given several")
            }
        }
    }

    @Test func wordsAreThoseOfTheModel() throws {
        func words(_ schema: String) throws -> [String] {
            try #require(contract.checker.resolve("#/components/schemas/\(schema)"))["enum"]?.strings ?? []
        }
        #expect(try words("FailureReason") == FailureReason.allCases.map(\.word))
        #expect(try words("Priority") == BatchPriority.allCases.map(\.rawValue))
        #expect(try words("QueuePart") == QueuePart.allCases.map(\.rawValue))
        #expect(try words("BatchStateWord") == ClusterStatus.states.map(\.rawValue))
        #expect(try words("PhotoStateWord") == PhotoFilterQuery.words)
    }

    @Test func referencesAndExamplesAreValid() throws {
        let checker = contract.checker
        var references: [String] = []
        func collect(_ value: JSONValue) {
            if let reference = value["$ref"]?.string { references.append(reference) }
            for member in value.object?.values.map({ $0 }) ?? value.array ?? [] { collect(member) }
        }
        collect(checker.document)
        for reference in Set(references) { #expect(checker.resolve(reference) != nil, "\(reference)") }
        let batch = try #require(checker.resolve("#/components/examples/batch/value"))
        let schema = try #require(checker.resolve("#/components/schemas/Batch"))
        #expect(checker.problems(of: batch, schema) == [])
        let unused = (checker.document["components"]?["schemas"]?.object ?? [:]).keys.filter { name in
            !references.contains("#/components/schemas/\(name)") && !name.hasSuffix("Event")
        }
        #expect(unused == [])
        for operation in contract.operations {
            for (_, content) in operation.description["requestBody"]?["content"]?.object ?? [:] {
                guard let example = content["example"], let schema = content["schema"] else { continue }
                #expect(checker.problems(of: example, schema) == [], "\(operation.name)")
            }
        }
    }

    @Test func serverSendsTheDocumentWithoutALogin() throws {
        let site = try TestSite()
        let reply = try site.fetch("GET", "/api/v1/openapi.json")
        #expect(reply.status == 200)
        #expect(try JSONValue(reply.body) == contract.checker.document)
    }

    /// The checker finds what it must find.
    @Test func checkerRefusesWrongValues() throws {
        let checker = contract.checker
        let schema = try #require(checker.resolve("#/components/schemas/Limits"))
        #expect(checker.problems(of: .object(["downloads": .int(1), "filtrations": .null]), schema) == [])
        for wrong in [
            JSONValue.null, .object([:]), .object(["downloads": .int(1)]),
            .object(["downloads": .string("1"), "filtrations": .null]),
            .object(["downloads": .int(1), "filtrations": .null, "other": .null]),
        ] {
            #expect(checker.problems(of: wrong, schema) != [], "\(wrong)")
        }
        #expect(checker.problems(of: .null, .object(["magic": .null])) != [])
    }
}
