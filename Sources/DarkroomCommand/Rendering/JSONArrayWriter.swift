import Darkroom

/// Writes one JSON array element by element, of any length.
struct JSONArrayWriter {
    private let output: StandardOutput
    private var isEmpty = true

    init(_ output: StandardOutput) { self.output = output }

    /// Adds an element, on a line of its own.
    mutating func add(_ element: JSON) throws { try add { element.append(to: &$0) } }

    /// Adds an element, on a line of its own, whose text `append` appends.
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
