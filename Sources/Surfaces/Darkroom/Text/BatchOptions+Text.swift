import DarkroomText

extension BatchOptions {
    /// The processing of each photo, in one line: `photos: filters sepia=0.8; encoding format=webp`.
    package var treatmentText: String {
        guard renditions.isEmpty else {
            let names = HumanText.list(renditions.map(\.name))
            return "photos: \(HumanText.count(renditions.count, of: "file")) of each: \(names)"
        }
        let settings = encoding.description
        guard filters.isEmpty else {
            return "photos: filters \(filters.text)" + (settings.isEmpty ? "" : "; encoding \(settings)")
        }
        guard !settings.isEmpty else { return "photos: no filters; each photo is kept byte for byte" }
        // These two settings change every photo. Whether another setting changes a photo is known only after the photo
        // is decoded.
        let changesAll = encoding.srgb == true || encoding.metadata ?? .all != .all
        let kept = changesAll ? "each photo is encoded again" : "photos that need no change are kept byte for byte"
        return "photos: no filters; encoding \(settings); \(kept)"
    }

    /// How the files are made, as rows of a fact sheet.
    package var recipeRows: [(name: String, text: String)] {
        var rows: [(name: String, text: String)] = []
        if renditions.isEmpty { rows.append(("filters", filters.text)) }
        for (position, rendition) in renditions.enumerated() {
            rows.append((position == 0 ? "renditions" : "", rendition.description))
        }
        if !encoding.description.isEmpty { rows.append(("encoding", encoding.description)) }
        switch damagedPhotos {
        case .fail: rows.append(("damaged photos", "failed for any defect"))
        case .tolerate: break
        case .accept: rows.append(("damaged photos", "accepted"))
        }
        if keepsTimes { rows.append(("file times", "of the photos")) }
        if keepsAnimations { rows.append(("animations", "kept")) }
        return rows
    }
}
