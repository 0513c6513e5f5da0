/// The version of this program, as `--version`, workers and the user agent tell it.
public enum DarkroomVersion {
    /// Major, minor and patch number (semver.org).
    public static let current = "0.1.0"
}
