import DarkroomFiles
import DarkroomStorage
import Foundation

/// A setting of a worker that is not allowed.
package struct InvalidSetting: Error, CustomStringConvertible {
    /// Why a setting is not allowed.
    package enum Problem: Sendable {
        case outOfBounds(SettingNumber, lowest: SettingNumber, highest: SettingNumber, isTooLow: Bool)
        /// - Parameter value: the value as messages show it; nil if it may be a secret.
        case invalid(value: String?, String)
    }

    /// The property of ``PhotoWorkerConfiguration``, such as `downloadRules.maxBytes`.
    package let setting: String
    package let problem: Problem

    package var description: String {
        switch problem {
        case .outOfBounds(let value, let lowest, let highest, _):
            "\(setting) is \(value); allowed: \(lowest) to \(highest)"
        case .invalid(let value, let problem): "\(setting)\(value.map { " " + $0 } ?? ""): \(problem)"
        }
    }
}

/// The value of a setting with its unit.
package enum SettingNumber: Sendable, CustomStringConvertible {
    case count(Int)
    case pixels(Int)
    case bytes(Int)
    case perSecond(Double)
    case share(Double)
    case duration(Duration)

    package var description: String {
        switch self {
        case .count(let number), .pixels(let number), .bytes(let number): "\(number)"
        case .perSecond(let number), .share(let number): "\(number)"
        case .duration(let duration): "\(duration)"
        }
    }
}

/// Checks settings.
struct SettingCheck {
    /// The text before the name of each setting.
    var prefix = ""

    /// The upper bound of durations.
    static let year = Duration.seconds(365 * 24 * 3600)

    /// - Throws: ``InvalidSetting`` if the value is out of bounds; nil is always allowed.
    func number<Value: Comparable>(
        _ name: String, _ value: Value?, in bounds: ClosedRange<Value>, _ number: (Value) -> SettingNumber
    ) throws(InvalidSetting) {
        guard let value, !bounds.contains(value) else { return }
        throw InvalidSetting(
            setting: prefix + name,
            problem: .outOfBounds(
                number(value), lowest: number(bounds.lowerBound), highest: number(bounds.upperBound),
                isTooLow: value < bounds.lowerBound))
    }

    /// - Throws: ``InvalidSetting`` if a path is not the absolute path of an existing folder.
    func folders(_ name: String, _ folders: [String]) throws(InvalidSetting) {
        for folder in folders {
            var isFolder: ObjCBool = false
            let exists = FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder)
            guard Path.isAbsolute(folder), exists, isFolder.boolValue else {
                throw invalid(name, "\"\(folder)\"", "not the absolute path of an existing folder")
            }
        }
    }

    /// - Throws: ``InvalidSetting`` if a text is not the location of a place or of what contains places; for folders, see
    ///   ``folders(_:_:)``.
    func places(_ name: String, _ places: [String]) throws(InvalidSetting) {
        try folders(name, places.filter(StorageSchemes.isPath))
        for place in places where !StorageSchemes.isPath(place) {
            do throws(StorageError) {
                _ = try StorageSchemes.location(place)
            } catch {
                throw invalid(name, "\"\(place)\"", error.problem)
            }
        }
    }

    /// The parsed texts of a setting.
    /// - Parameter problem: returns the description of a parse error.
    func parsed<Value, Failure: Error>(
        _ name: String, _ texts: [String], _ parse: (String) throws(Failure) -> Value, _ problem: (Failure) -> String
    ) throws(InvalidSetting) -> [Value] {
        var values: [Value] = []
        for text in texts {
            do throws(Failure) {
                values.append(try parse(text))
            } catch {
                throw invalid(name, "\"\(text)\"", problem(error))
            }
        }
        return values
    }

    /// - Parameter value: the value as messages show it; nil if it may be a secret.
    func invalid(_ name: String, _ value: String?, _ problem: String) -> InvalidSetting {
        InvalidSetting(setting: prefix + name, problem: .invalid(value: value, problem))
    }
}
