/// The part of the work that is suspended or resumed.
public enum QueuePart: String, Sendable, CaseIterable, Codable {
    /// Downloads and filtrations.
    case everything
    /// Downloads only: downloaded photos are still filtered.
    case downloads
    /// Filtrations only: downloads continue until the workers' memory for downloaded bytes is full.
    case filtrations
}
