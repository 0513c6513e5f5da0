extension BinaryInteger {
    /// A non-negative number with leading zeros, at least `digits` digits long.
    package func padded(to digits: Int, radix: Int = 10) -> String {
        let text = String(self, radix: radix)
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }
}
