/// The part of the work that is suspended or resumed.
public enum QueuePart: String, Sendable, CaseIterable, Codable {
    /// Downloads and filtrations.
    case everything
    /// Downloads alone: what is downloaded is still filtered.
    case downloads
    /// Filtrations alone: downloads go on until workers hold as many bytes as they may.
    case filtrations
}
