import Darkroom
import DarkroomImaging

extension ImageFormat {
    /// Other endings that users may write for a format; generated file names do not use them.
    static let otherEndings: [String: ImageFormat] = ["jpeg": .jpeg, "tiff": .tiff, "heif": .heic]

    /// All endings, without the dot.
    static var endings: [String] {
        allCases.flatMap { format in
            [format.fileExtension] + otherEndings.filter { $0.value == format }.map(\.key).sorted()
        }
    }

    /// The format of a file name ending, in upper or lower case; nil if no format has this ending.
    init?(ending: String) {
        let ending = ending.lowercased()
        guard let format = Self.allCases.first(where: { $0.fileExtension == ending }) ?? Self.otherEndings[ending]
        else { return nil }
        self = format
    }
}
