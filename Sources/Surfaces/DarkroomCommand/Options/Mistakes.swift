import ArgumentParsing
import Darkroom
import DarkroomFiles
import DarkroomImaging
import DarkroomRecipes
import DarkroomText
import Foundation

/// Advice on mistakes that users of other programs may make: a filter as a command or as an option, and photos in place
/// of a photo list.
enum Mistakes {
    /// Names that users may try for the option with the number of photos that are developed at a time.
    static let namesOfParallelWork = ["j", "jobs", "threads", "parallel", "concurrency", "processes"]
    /// Names that users may try for the option of the output folder.
    static let namesOfOutput = [
        "out", "output-dir", "output-folder", "outdir", "out-dir", "dir", "directory", "folder", "dest", "destination",
        "target",
    ]

    /// Names that users may try for filters.
    private static let namesOfFilters: [String: Filter.Kind] = [
        "width": .resize, "height": .resize, "size": .resize, "scale": .resize, "geometry": .resize,
        "thumbnail": .resize, "max-width": .resize, "max-height": .resize,
        "greyscale": .grayscale, "gray": .grayscale, "grey": .grayscale, "bw": .grayscale, "monochrome": .grayscale,
        "saturation": .saturate, "hue": .hueRotate, "negate": .invert, "mirror": .flop, "border": .extend,
        "gaussian-blur": .blur, "unsharp": .sharpen, "modulate": .saturate, "colorize": .tint, "colourize": .tint,
    ]

    private static func filter(named name: String) -> Filter.Kind? {
        Filter.Kind(rawValue: name.lowercased()) ?? namesOfFilters[name.lowercased()]
    }

    /// Advice on an option that stands for a filter, such as `--resize 300x200` or `--width 300`.
    static func advice(onOptionForFilter name: String, value: String?) -> OptionAdvice? {
        guard let filter = filter(named: name) else { return nil }
        if let value, let chain = chain(filter, named: name, value) {
            return OptionAdvice("use --filter \(ShellWord.quoted(chain))", usesValue: true)
        }
        let definition = filter.definition
        return OptionAdvice(
            "\(definition.name) is a filter: --filter \(ShellWord.quoted(plainChain(definition)))", usesValue: false)
    }

    /// Advice for a word that is not a command: a filter, a photo or a list.
    static func advice(onCommand word: String, arguments: [String]) -> String? {
        if let filter = filter(named: word) {
            let name = filter.definition.name
            let given = arguments.first.flatMap { chain(filter, named: word, $0) }
            let example = ShellWord.quoted(given ?? plainChain(filter.definition))
            return "\(name) is a filter: darkroom develop IN OUT --filter \(example); 'darkroom filters \(name)' "
                + "describes it"
        }
        if isPhoto(word) { return "to develop photos: darkroom develop IN OUT, or darkroom develop IN... -o FOLDER" }
        guard word.contains("/") || word.contains("."), FileManager.default.fileExists(atPath: word) else { return nil }
        return "to develop a photo list or a folder: darkroom run \(ShellWord.quoted(word)) -o FOLDER"
    }

    /// The chain of a filter with this argument; nil if the filter does not accept the argument.
    private static func chain(_ filter: Filter.Kind, named name: String, _ value: String) -> String? {
        let isHeight = name.hasSuffix("height")
        let isSide = isHeight || name.hasSuffix("width")
        let isNumber = value.allSatisfy { $0.isASCII && $0.isNumber }
        let argument = isSide && isNumber ? (isHeight ? "x\(value)" : "\(value)x") : value
        let chain = "\(filter.definition.name)=\(argument)"
        return isChain(chain) ? chain : nil
    }

    /// The name of a filter that needs no arguments; otherwise the example of the filter.
    private static func plainChain(_ definition: FilterDefinition) -> String {
        isChain(definition.name) ? definition.name : definition.example
    }

    // The error is dropped: it would describe a text that the user has not written.
    private static func isChain(_ text: String) -> Bool { (try? [PhotoFilter](parsing: text)) != nil }

    /// Advice for a command line with several values in place of a photo list: for photos and folders, the command that
    /// develops them; for a list and a folder without `-o`, the option `-o`. Otherwise nil.
    static func advice(onLists values: [String], options: [String]) -> String? {
        if values.count == 2, !isPhoto(values[0]), !isPhoto(values[1]), output(of: options) == nil {
            return "to name the output folder: -o \(ShellWord.quoted(values[1]))"
        }
        guard values.allSatisfy({ isPhoto($0) || isFolder($0) }) else { return nil }
        return
            "the command takes one list or one folder; to develop these photos: \(developCommand(values, options: options))"
    }

    /// Throws if the file of a list is a photo.
    static func refusePhoto(_ list: String, output: String) throws(CommandError) {
        guard !list.contains("://"), hasPicture(list) else { return }
        // In tests, the arguments of the process are not those of the command.
        let isOwn = ["run", "submit"].contains(CommandLine.arguments.dropFirst().first)
        let options = isOwn ? CommandLine.arguments.dropFirst(2).filter { $0 != list } : []
        throw CommandError(
            "photo list \(list): it is a picture, not a photo list; to develop it: "
                + developCommand([list], options: options.isEmpty ? ["-o", output] : options, output: output))
    }

    /// The command line of `darkroom develop` for these photos, with these options if `develop` accepts them.
    private static func developCommand(_ photos: [String], options: [String], output: String? = nil) -> String {
        var options = options
        // `develop` does not have all options of `run`. If `develop` rejects one of the options, the advice contains
        // only the output folder.
        if (try? DevelopCommand.parse(photos + options)) == nil {
            options = ["-o", output ?? self.output(of: options) ?? "<folder>"]
        }
        let shown = pattern(of: photos) ?? photos.prefix(10).map(ShellWord.quoted).joined(separator: " ")
        let more = photos.count > 10 && pattern(of: photos) == nil ? " ..." : ""
        let words = options.map { $0 == "<folder>" ? $0 : ShellWord.quoted($0) }
        return (["darkroom develop \(shown)\(more)"] + words).joined(separator: " ")
    }

    /// The value of `-o` or `--output`.
    private static func output(of options: [String]) -> String? {
        for (index, word) in options.enumerated() {
            if ["-o", "--output"].contains(word) { return index + 1 < options.count ? options[index + 1] : nil }
            if word.hasPrefix("--output=") { return String(word.dropFirst("--output=".count)) }
            if word.hasPrefix("-o") { return String(word.dropFirst(2)) }
        }
        return nil
    }

    /// The pattern, such as `photos/*.jpg`, that a shell expands to exactly these names; nil if there are at most three
    /// names, or no such pattern.
    private static func pattern(of names: [String]) -> String? {
        guard names.count > 3, let first = names.first else { return nil }
        let folder = Path.split(first).folder
        let ending = "." + URL(fileURLWithPath: first).pathExtension
        let prefix = folder.map { $0 + "/" } ?? ""
        // If the folder cannot be read, the advice lists the names instead of a pattern.
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder ?? ".")) ?? []
        let matching = files.filter { $0.hasSuffix(ending) && !$0.hasPrefix(".") }
        guard Set(matching.map { prefix + $0 }) == Set(names) else { return nil }
        return (prefix.isEmpty ? "" : ShellWord.quoted(prefix)) + "*" + ending
    }

    /// Whether a name has the file name extension of a picture.
    private static func isPhoto(_ name: String) -> Bool {
        ImageFormat(ending: URL(fileURLWithPath: name).pathExtension) != nil
    }

    /// Whether a regular file begins like a picture. The content decides, because a photo list may have any name. A
    /// pipe is not read, because that would consume its data. False if the file cannot be read: the reader of the list
    /// then reports the error.
    private static func hasPicture(_ path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            let file = FileHandle(forReadingAtPath: path), let start = try? file.read(upToCount: 64)
        else { return false }
        return start.withUnsafeBytes { ImageFormat(contentOf: $0) } != nil
    }

    private static func isFolder(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
    }
}
