import DarkroomImaging

/// What is made of the photos of a batch.
package struct PhotoRecipe: Sendable {
    /// Filters and output format.
    package var develop: DevelopOptions
    /// The operation that runs in place of filters; nil when the batch has filters.
    package var custom: CustomOperation?

    package init(develop: DevelopOptions, custom: CustomOperation?) {
        self.develop = develop
        self.custom = custom
    }

    /// Whether a running attempt can be stopped at any time without ending its process: not inside of most image libraries.
    package func canAlwaysStop(_ bytes: [UInt8]) -> Bool { custom != nil || Imaging.canAlwaysStop(bytes, develop) }
}
