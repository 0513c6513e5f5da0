import DarkroomModel

/// A registered custom operation, which runs in place of filters.
package struct CustomOperation: Sendable {
    package let name: String
    package let make: @Sendable () -> any PhotoOperation

    package init(name: String, make: @escaping @Sendable () -> any PhotoOperation) {
        self.name = name
        self.make = make
    }
}
