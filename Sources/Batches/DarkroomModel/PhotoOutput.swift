import DarkroomRecipes

/// A file that a batch makes of each photo.
package struct PhotoOutput: Sendable, Equatable {
    /// The name of the rendition; empty if the batch has no renditions.
    package let rendition: String
    package let chain: FilterChain
    package let encoding: EncodingSettings

    package init(rendition: String = "", chain: FilterChain, encoding: EncodingSettings = EncodingSettings()) {
        self.rendition = rendition
        self.chain = chain
        self.encoding = encoding
    }
}

extension BatchOptions {
    /// The files that are made of each photo, at least one.
    /// - Throws: ``ChainSyntaxError`` if a filter, a rendition or the encoding is invalid.
    package func outputs() throws(ChainSyntaxError) -> [PhotoOutput] {
        let settings = try encoding.settings()
        guard let recipe = try renditions.recipe() else {
            return [PhotoOutput(chain: try filters.chain(), encoding: settings)]
        }
        return recipe.renditions.map { rendition in
            PhotoOutput(
                rendition: rendition.name, chain: rendition.chain, encoding: rendition.settings.merged(over: settings))
        }
    }
}
