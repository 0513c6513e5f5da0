import DarkroomText

enum Suggestion {
    /// `did you mean NAME?`; nil if no candidate is similar to the word.
    static func text(_ word: String, _ candidates: [String]) -> String? {
        NearMiss.find(word, in: candidates).map { "did you mean \($0)?" }
    }
}
