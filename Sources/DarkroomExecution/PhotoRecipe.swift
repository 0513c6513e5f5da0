import DarkroomImaging
import DarkroomModel

/// How the photos of a batch are developed.
package struct PhotoRecipe: Sendable {
    /// The filters and the output format.
    package var develop: DevelopOptions
    /// The registered custom operation that runs in place of filters; nil if the batch has filters.
    package var custom: (name: String, make: @Sendable () -> any PhotoOperation)?

    package init(develop: DevelopOptions, custom: (name: String, make: @Sendable () -> any PhotoOperation)?) {
        self.develop = develop
        self.custom = custom
    }

    /// Whether an attempt can be stopped at any time without ending its process. Most libraries cannot be stopped.
    package func canAlwaysStop(_ bytes: [UInt8]) -> Bool { custom != nil || Imaging.canAlwaysStop(bytes, develop) }
}
