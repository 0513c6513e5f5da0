import ArgumentParsing
import Darkroom

/// What a batch puts its photos through: an image filter that every worker knows, or an operation that a program of one's
/// own has registered under a name, `x:NAME`.
enum BatchFilter: ExpressibleByArgument, CustomStringConvertible {
    case image(Filter)
    case own(name: String)

    private static let ownPrefix = "x:"

    init(argument: String) throws {
        guard argument.hasPrefix(Self.ownPrefix) else {
            do throws(FilterSyntaxError) {
                self = .image(try Filter(parsing: argument))
            } catch {
                throw InvalidValue(error.problem)
            }
            return
        }
        let name = argument.dropFirst(Self.ownPrefix.count)
        let isName = name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "_-".contains($0)) }
        guard isName, (1...64).contains(name.count) else {
            throw InvalidValue(
                "write the name of an operation of your own, 1 to 64 letters, digits, \"_\" and \"-\", as x:thumbnail")
        }
        self = .own(name: String(name))
    }

    /// The text that a batch's facts hold.
    var description: String {
        switch self {
        case .image(let filter): filter.description
        case .own(let name): Self.ownPrefix + name
        }
    }
}
