extension String {
    /// The text, or its beginning and "..." if it has more than `most` Unicode scalars.
    package func shortened(to most: Int) -> String {
        guard let end = unicodeScalars.index(startIndex, offsetBy: most, limitedBy: endIndex), end < endIndex else {
            return self
        }
        return String(unicodeScalars[..<end]) + "..."
    }
}
