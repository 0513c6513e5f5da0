/// A list of names and values.
package struct FactSheet: Sendable {
    package private(set) var lines: [(name: String, value: String)] = []

    package init() {}

    package mutating func add(_ name: String, _ value: String) { lines.append((name, value)) }
}
