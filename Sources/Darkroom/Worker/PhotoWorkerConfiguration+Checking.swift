import DarkroomFiles
import DarkroomWorker
import Foundation

/// The checks of the settings. The command line has the same bounds.
extension PhotoWorkerConfiguration {
    /// - Throws: ``InvalidSetting`` for the first invalid setting.
    func check() throws(InvalidSetting) {
        let least = WorkerBounds.leastCount
        try InvalidSetting.unless(downloads >= least, "downloads", downloads, "at least \(least)")
        if let filtrations {
            try InvalidSetting.unless(filtrations >= least, "filtrations", filtrations, "at least \(least)")
        }
        try InvalidSetting.unless(gracePeriod >= .zero, "gracePeriod", gracePeriod, "at least 0 seconds")
        try InvalidSetting.unless(maxPixels >= least, "maxPixels", maxPixels, "at least \(least)")
        let shortest = WorkerBounds.shortestPhotoTimeout
        try InvalidSetting.unless(photoTimeout >= shortest, "photoTimeout", photoTimeout, "at least \(shortest)")
        try InvalidSetting.unless(maxWaitingBytes >= least, "maxWaitingBytes", maxWaitingBytes, "at least \(least)")
        let priorities = WorkerBounds.threadPriorities
        try InvalidSetting.unless(
            priorities.contains(threadPriority), "threadPriority", threadPriority,
            "from \(priorities.lowerBound) to \(priorities.upperBound)")
        try InvalidSetting.checkFolders(outputFolders, "outputFolders")
        try downloadRules.check()
    }
}

extension DownloadRules {
    fileprivate func check() throws(InvalidSetting) {
        for (count, name, least) in [
            (connectionsPerHost, "connectionsPerHost", WorkerBounds.leastCount),
            (maxBytes, "maxBytes", WorkerBounds.leastCount),
            (minBytesPerSecond, "minBytesPerSecond", WorkerBounds.leastRetries),
            (maxRedirects, "maxRedirects", WorkerBounds.leastRetries), (retries, "retries", WorkerBounds.leastRetries),
        ] {
            try InvalidSetting.unless(count >= least, "downloadRules.\(name)", count, "at least \(least)")
        }
        let shortest = WorkerBounds.shortestTimeout
        for (duration, name) in [
            (connectTimeout, "connectTimeout"), (stallTimeout, "stallTimeout"), (timeout, "timeout"),
        ] {
            try InvalidSetting.unless(duration >= shortest, "downloadRules.\(name)", duration, "at least \(shortest)")
        }
        try InvalidSetting.unless(
            WorkerBounds.isUserAgent(userAgent), "downloadRules.userAgent", "\"\(userAgent)\"",
            "text without invisible characters")
        try InvalidSetting.checkFolders(folders, "downloadRules.folders")
    }
}

/// A setting of a worker that is out of bounds.
struct InvalidSetting: Error, CustomStringConvertible {
    /// The setting, its value, and the allowed values.
    let description: String

    fileprivate static func unless(
        _ isValid: Bool, _ name: String, _ value: some Any, _ allowed: String
    ) throws(InvalidSetting) {
        if !isValid { throw InvalidSetting(description: "\(name) is \(value); allowed: \(allowed)") }
    }

    fileprivate static func checkFolders(_ folders: [String], _ name: String) throws(InvalidSetting) {
        for folder in folders {
            var isFolder: ObjCBool = false
            let exists = FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder)
            try unless(
                Path.isAbsolute(folder) && exists && isFolder.boolValue, name, "\"\(folder)\"",
                "absolute paths of existing folders")
        }
    }
}
