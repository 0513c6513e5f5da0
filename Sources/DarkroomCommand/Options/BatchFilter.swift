import ArgumentParsing
import Darkroom
import DarkroomImaging

/// What a batch puts its photos through: an image filter that every worker knows, or an operation that a program of one's
/// own has registered under a name, `x:NAME`.
enum BatchFilter: ExpressibleByArgument, CustomStringConvertible {
    case image(Filter)
    case own(name: String)

    init(argument: String) throws {
        guard argument.hasPrefix(CustomFilter.prefix) else {
            do throws(FilterSyntaxError) {
                self = .image(try Filter(parsing: argument))
            } catch {
                throw InvalidValue(error.problem)
            }
            return
        }
        guard let name = CustomFilter.name(of: argument) else {
            throw InvalidValue(
                "write the name of an operation of your own, 1 to 64 letters, digits, \"_\" and \"-\", as x:thumbnail")
        }
        self = .own(name: name)
    }

    /// The text that a batch's facts hold.
    var description: String {
        switch self {
        case .image(let filter): filter.description
        case .own(let name): CustomFilter.prefix + name
        }
    }
}
