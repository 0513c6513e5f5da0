import DarkroomRecipes

extension BatchOptions {
    /// The files that are made of each photo, at least one. Settings that a rendition does not give have the values of
    /// the encoding of the batch. Without renditions, the result is one rendition with an empty name.
    /// - Throws: ``ChainSyntaxError`` if a filter, a rendition or the encoding is invalid.
    package func completeRenditions() throws(ChainSyntaxError) -> [PhotoRendition] {
        let encoding = try encoding.checked()
        guard !renditions.isEmpty else {
            return [PhotoRendition("", filters: try filters.checked(), encoding: encoding)]
        }
        var complete = try renditions.checked()
        for index in complete.indices { complete[index].encoding = complete[index].encoding.merged(over: encoding) }
        return complete
    }
}
