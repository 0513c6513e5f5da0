/// Returns the names with the file name extension of a photo, such as `.jpg`. Throws if there is no such name.
func photoNames(_ names: [String], in folder: String) throws(BenchError) -> [String] {
    let endings = [".jpg", ".jpeg", ".png", ".webp"]
    let photos = names.filter { name in endings.contains { name.lowercased().hasSuffix($0) } }
    guard !photos.isEmpty else {
        throw BenchError("folder \(folder): it contains no photos (files ending in .jpg, .jpeg, .png or .webp)")
    }
    return photos
}
