import DarkroomModel

/// Where the photos of a batch come from: something that can be read from its beginning, again if need be.
public protocol PhotoListSource {
    /// Hands every entry of the list to `receive`, in order; stops soon after `receive` has returned false.
    func read(_ receive: (_ name: UnsafeRawBufferPointer, _ url: UnsafeRawBufferPointer) -> Bool) throws
}
