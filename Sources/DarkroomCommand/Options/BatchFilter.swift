import ArgumentParsing
import Darkroom
import DarkroomImaging

/// A filter of a batch: an image filter, which every worker has, or a custom operation `x:NAME`, which a program has
/// registered under that name.
enum BatchFilter: ExpressibleByArgument, CustomStringConvertible {
    case image(Filter)
    case custom(name: String)

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
                "write the name of a custom operation, 1 to 64 letters, digits, \"_\" and \"-\", such as x:thumbnail")
        }
        self = .custom(name: name)
    }

    /// The text for this filter in the facts of a batch.
    var description: String {
        switch self {
        case .image(let filter): filter.description
        case .custom(let name): CustomFilter.prefix + name
        }
    }
}
