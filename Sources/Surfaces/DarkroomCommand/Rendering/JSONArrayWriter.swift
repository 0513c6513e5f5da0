import Darkroom

/// Writes a JSON array of any length, element by element.
struct JSONArrayWriter {
    private let output: StandardOutput
    private var isEmpty = true

    init(_ output: StandardOutput) { self.output = output }

    /// Adds an element on a separate line.
    mutating func add(_ element: JSON) throws { try add { element.append(to: &$0) } }

    /// Adds an element on a separate line; `append` writes the text of the element.
    mutating func add(_ append: (inout [UInt8]) -> Void) throws {
        var bytes = Array((isEmpty ? "[" : ",\n").utf8)
        append(&bytes)
        isEmpty = false
        try output.write(bytes)
    }

    func finish() throws {
        try output.line(isEmpty ? "[]" : "]")
        try output.flush()
    }
}
