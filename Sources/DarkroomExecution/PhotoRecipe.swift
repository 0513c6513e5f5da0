import DarkroomImaging

/// How the photos of a batch are developed.
package struct PhotoRecipe: Sendable {
    /// The filters and the output format.
    package var develop: DevelopOptions
    /// The custom operation that runs in place of filters; nil if the batch uses filters.
    package var custom: CustomOperation?

    package init(develop: DevelopOptions, custom: CustomOperation?) {
        self.develop = develop
        self.custom = custom
    }

    /// Whether an attempt can be stopped at any time without ending its process. Most libraries cannot be stopped.
    package func canAlwaysStop(_ bytes: [UInt8]) -> Bool { custom != nil || Imaging.canAlwaysStop(bytes, develop) }
}
