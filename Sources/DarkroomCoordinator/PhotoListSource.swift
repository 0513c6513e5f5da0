/// A source of the photos of a batch, which can be read more than once.
package protocol PhotoListSource {
    /// Passes the entries of the list to `receive`, in order. Stops soon after `receive` has returned false. Blocks.
    func read(_ receive: (_ name: UnsafeRawBufferPointer, _ url: UnsafeRawBufferPointer) -> Bool) throws

    /// Goes back to the beginning, so that the list can be read again.
    func rewind() throws
}

extension PhotoListReader: PhotoListSource {
    /// Passes the entries of the list to `receive`, in order. Stops soon after `receive` has returned false. Blocks.
    package func read(_ receive: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Bool) throws {
        var goesOn = true
        while goesOn, try next({ name, url in if goesOn { goesOn = receive(name, url) } }) {}
    }
}
