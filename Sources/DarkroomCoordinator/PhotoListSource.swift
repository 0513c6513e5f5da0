/// Where the photos of a batch come from: something that is read from its beginning to its end, and again if need be.
package protocol PhotoListSource {
    /// Hands on the list's entries in order; stops soon after `receive` has returned false. Blocks.
    func read(_ receive: (_ name: UnsafeRawBufferPointer, _ url: UnsafeRawBufferPointer) -> Bool) throws

    /// Goes back to the beginning, to be read again.
    func rewind() throws
}

extension PhotoListReader: PhotoListSource {
    /// Hands on the list's entries in order; stops soon after `receive` has returned false. Blocks.
    package func read(_ receive: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Bool) throws {
        var goesOn = true
        while goesOn, try next({ name, url in if goesOn { goesOn = receive(name, url) } }) {}
    }
}
