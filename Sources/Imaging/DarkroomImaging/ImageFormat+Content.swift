import DarkroomRecipes

extension ImageFormat {
    /// Detects the format of a file from its first bytes. Returns nil for unsupported formats.
    package init?(contentOf bytes: UnsafeRawBufferPointer) {
        guard case .image(let format) = ContentType(of: bytes) else { return nil }
        self = format
    }
}
