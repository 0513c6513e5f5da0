import DarkroomModel

/// An operation of the program that runs in place of filters, as it was registered.
package struct CustomOperation: Sendable {
    package let name: String
    package let make: @Sendable () -> any PhotoOperation

    package init(name: String, make: @escaping @Sendable () -> any PhotoOperation) {
        self.name = name
        self.make = make
    }
}
