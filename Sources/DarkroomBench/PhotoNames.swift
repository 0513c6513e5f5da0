/// Returns the files of a folder with the ending of a photo.
func photoNames(_ names: [String], in folder: String) throws(BenchError) -> [String] {
    let endings = [".jpg", ".jpeg", ".png", ".webp"]
    let photos = names.filter { name in endings.contains { name.lowercased().hasSuffix($0) } }
    guard !photos.isEmpty else {
        throw BenchError("folder \(folder): no photos (files ending in .jpg, .jpeg, .png or .webp) are in it")
    }
    return photos
}
