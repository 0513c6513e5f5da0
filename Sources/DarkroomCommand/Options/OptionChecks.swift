import ArgumentParsing
import Foundation

/// Refuses a number that is too small.
func requireAtLeast(_ least: Int, _ value: Int, _ option: String) throws(ValidationError) {
    if value < least { throw ValidationError("\(option) \(value): at least \(least)") }
}

/// A path that holds in whatever folder a process works: `.` and `..` taken out, links kept.
func absolutePath(_ path: String) -> String {
    URL(fileURLWithPath: path).standardizedFileURL.path
}
