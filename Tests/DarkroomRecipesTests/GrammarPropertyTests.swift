import FuzzSupport
import Testing

@testable import DarkroomRecipes

@Suite struct GrammarPropertyTests {
    @Test func printedChainParsesAsTheSameChain() throws {
        let run = FuzzRun("chains", count: 3000)
        for seed in run.seed..<run.seed + UInt64(run.count) {
            var random = RandomChains(seed: seed)
            let chain = random.chain()
            let read = try [PhotoFilter](parsing: chain.text)
            #expect(read == chain, "seed \(seed): \(chain.text)")
            #expect(read.text == chain.text, "seed \(seed)")
        }
    }

    @Test func printedRecipeParsesAsTheSameRecipe() throws {
        let run = FuzzRun("recipes", count: 500)
        for seed in run.seed..<run.seed + UInt64(run.count) {
            var random = RandomChains(seed: seed)
            let recipe = random.recipe()
            let text = recipe.text
            #expect(try [PhotoRendition](parsing: text) == recipe, "seed \(seed): \(text)")
            #expect(
                try [PhotoRendition](parsing: text.replacing("\n", with: "\r\n# note\r\n\r\n")) == recipe,
                "seed \(seed)")
            #expect(text.split(separator: "\n").count == recipe.count, "seed \(seed): \(text)")
        }
    }

    @Test func damagedTextParsesOrGivesAnErrorWithAPositionInTheText() throws {
        let run = FuzzRun("damaged texts", count: 2000)
        for seed in run.seed..<run.seed + UInt64(run.count) {
            var random = RandomChains(seed: seed)
            let texts = [random.chain().text, random.recipe().text]
            var mutator = ByteMutator(random.generator)
            for (index, text) in texts.enumerated() {
                let other = Array(texts[1 - index].utf8)
                let damaged = String(decoding: mutator.mutate(Array(text.utf8), with: other), as: UTF8.self)
                do throws(ChainSyntaxError) {
                    if index == 0 {
                        let chain = try [PhotoFilter](parsing: damaged)
                        #expect(try [PhotoFilter](parsing: chain.text) == chain, "seed \(seed): \(damaged)")
                    } else {
                        let recipe = try [PhotoRendition](parsing: damaged)
                        #expect(try [PhotoRendition](parsing: recipe.text) == recipe, "seed \(seed): \(damaged)")
                    }
                } catch {
                    let length = error.text.unicodeScalars.count
                    #expect(error.offset >= 0 && error.length >= 0, "seed \(seed): \(error)")
                    #expect(error.offset + error.length <= length, "seed \(seed): \(error)")
                    let controls = error.description.unicodeScalars.filter(\.isControl)
                    #expect(controls.isEmpty, "seed \(seed): \(error)")
                    #expect(error.pointed.filter { $0 == "\n" }.count == 1, "seed \(seed): \(error.pointed)")
                }
            }
        }
    }
}
