import Darkroom

/// Writes one JSON array element by element, of any length.
struct JSONArrayWriter {
    private let output: StandardOutput
    private var isEmpty = true

    init(_ output: StandardOutput) { self.output = output }

    /// Adds an element, on a line of its own.
    mutating func add(_ element: JSON) throws {
        var bytes = Array((isEmpty ? "[" : ",\n").utf8)
        element.append(to: &bytes)
        isEmpty = false
        try output.write(bytes)
    }

    /// Ends the document.
    func finish() throws {
        try output.line(isEmpty ? "[]" : "]")
        try output.flush()
    }
}
