/// The extensions of file names.
package enum FileEnding {
    /// The extension of a name in lower case, without the dot; nil unless it is 1 to 10 ASCII letters and digits, at
    /// least one of them a letter.
    package static func of(_ name: some StringProtocol) -> String? {
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return nil }
        let ending = name[name.index(after: dot)...]
        guard (1...10).contains(ending.utf8.count), ending.contains(where: \.isLetter),
            ending.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) })
        else { return nil }
        return ending.lowercased()
    }
}
