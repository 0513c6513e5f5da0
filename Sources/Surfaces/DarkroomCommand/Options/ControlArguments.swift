import ArgumentParsing
import Darkroom
import DarkroomText

extension PhotoRanges: ExpressibleByArgument {
    package init(argument: String) throws {
        do throws(InvalidPhotoRanges) {
            try self.init(parsing: argument)
        } catch {
            throw InvalidValue(error.problem)
        }
    }

    package var argumentText: String { description }
}

/// Failure reasons, such as `timeout,http-5xx`.
struct FailureReasons: ExpressibleByArgument {
    let reasons: [FailureReason]

    init(argument: String) throws {
        reasons = try argument.split(separator: ",", omittingEmptySubsequences: false).map { word in
            guard let reason = FailureReason(word: String(word)) else {
                let words = FailureReason.allCases.map(\.word).joined(separator: ", ")
                throw InvalidValue("no reason is called \"\(word)\"; it can be \(words)")
            }
            return reason
        }
    }

    var argumentText: String { reasons.map(\.word).joined(separator: ",") }
}
