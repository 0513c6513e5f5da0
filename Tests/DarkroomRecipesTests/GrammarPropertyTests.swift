import FuzzSupport
import Testing

@testable import DarkroomRecipes

@Suite struct GrammarPropertyTests {
    @Test func printedChainParsesAsTheSameChain() throws {
        let run = FuzzRun("chains", count: 3000)
        for seed in run.seed..<run.seed + UInt64(run.count) {
            var random = RandomChains(seed: seed)
            let chain = random.chain()
            let read = try FilterChain(parsing: chain.description)
            #expect(read == chain, "seed \(seed): \(chain)")
            #expect(read.description == chain.description, "seed \(seed)")
        }
    }

    @Test func printedRecipeParsesAsTheSameRecipe() throws {
        let run = FuzzRun("recipes", count: 500)
        for seed in run.seed..<run.seed + UInt64(run.count) {
            var random = RandomChains(seed: seed)
            let recipe = try random.recipe()
            let text = recipe.description
            #expect(try Recipe(parsing: text) == recipe, "seed \(seed): \(text)")
            #expect(try Recipe(parsing: text.replacing("\n", with: "\r\n# note\r\n\r\n")) == recipe, "seed \(seed)")
            #expect(text.split(separator: "\n").count == recipe.renditions.count, "seed \(seed): \(text)")
        }
    }

    @Test func damagedTextParsesOrGivesAnErrorWithAPositionInTheText() throws {
        let run = FuzzRun("damaged texts", count: 2000)
        for seed in run.seed..<run.seed + UInt64(run.count) {
            var random = RandomChains(seed: seed)
            let texts = [random.chain().description, try random.recipe().description]
            var mutator = ByteMutator(random.generator)
            for (index, text) in texts.enumerated() {
                let other = Array(texts[1 - index].utf8)
                let damaged = String(decoding: mutator.mutate(Array(text.utf8), with: other), as: UTF8.self)
                do throws(ChainSyntaxError) {
                    if index == 0 {
                        let chain = try FilterChain(parsing: damaged)
                        #expect(try FilterChain(parsing: chain.description) == chain, "seed \(seed): \(damaged)")
                    } else {
                        let recipe = try Recipe(parsing: damaged)
                        #expect(try Recipe(parsing: recipe.description) == recipe, "seed \(seed): \(damaged)")
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
