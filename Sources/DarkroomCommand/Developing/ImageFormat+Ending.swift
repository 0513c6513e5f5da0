import Darkroom
import DarkroomImaging

extension ImageFormat {
    /// Endings that stand for a format beside the one that its files are given.
    static let otherEndings: [String: ImageFormat] = ["jpeg": .jpeg, "tiff": .tiff, "heif": .heic]

    /// All endings, without the dot.
    static var endings: [String] {
        allCases.flatMap { format in
            [format.fileExtension] + otherEndings.filter { $0.value == format }.map(\.key).sorted()
        }
    }

    /// The format that the ending of a file's name stands for, in any case; nil where it stands for none.
    init?(ending: String) {
        let ending = ending.lowercased()
        guard let format = Self.allCases.first(where: { $0.fileExtension == ending }) ?? Self.otherEndings[ending]
        else { return nil }
        self = format
    }
}
