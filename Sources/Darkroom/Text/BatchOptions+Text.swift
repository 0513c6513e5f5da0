import DarkroomText

extension BatchOptions {
    /// How the files are made, as rows of a fact sheet.
    package var recipeRows: [(name: String, text: String)] {
        var rows: [(name: String, text: String)] = []
        if renditions.isEmpty { rows.append(("filters", filters.text)) }
        for (position, rendition) in renditions.enumerated() {
            rows.append((position == 0 ? "renditions" : "", rendition.description))
        }
        if !encoding.description.isEmpty { rows.append(("encoding", encoding.description)) }
        if acceptsDamage { rows.append(("damaged photos", "accepted")) }
        if keepsAnimations { rows.append(("animations", "kept")) }
        return rows
    }
}
