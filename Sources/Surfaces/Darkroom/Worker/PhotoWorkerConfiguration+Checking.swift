import DarkroomFiles
import DarkroomWorker
import Foundation

/// The checks of the settings. The command line has the same bounds.
extension PhotoWorkerConfiguration {
    /// - Throws: ``InvalidSetting`` for the first invalid setting.
    func check() throws(InvalidSetting) {
        if let downloads { try InvalidSetting.check(downloads, in: WorkerBounds.slots, "downloads") }
        if let filtrations { try InvalidSetting.check(filtrations, in: WorkerBounds.slots, "filtrations") }
        try InvalidSetting.check(gracePeriod, in: WorkerBounds.gracePeriods, "gracePeriod")
        if let maxPixels { try InvalidSetting.check(maxPixels, in: WorkerBounds.pixels, "maxPixels") }
        try InvalidSetting.check(photoTimeout, in: WorkerBounds.photoTimeouts, "photoTimeout")
        try InvalidSetting.check(maxWaitingBytes, in: WorkerBounds.bytes, "maxWaitingBytes")
        try InvalidSetting.check(threadPriority, in: WorkerBounds.threadPriorities, "threadPriority")
        try InvalidSetting.checkFolders(outputFolders, "outputFolders")
        try downloadRules.check()
    }
}

extension DownloadRules {
    fileprivate func check() throws(InvalidSetting) {
        if let connectionsPerHost {
            try InvalidSetting.check(connectionsPerHost, in: WorkerBounds.slots, "downloadRules.connectionsPerHost")
        }
        for (rate, name) in [
            (requestsPerSecond, "requestsPerSecond"), (totalRequestsPerSecond, "totalRequestsPerSecond"),
        ] {
            guard let rate else { continue }
            try InvalidSetting.check(rate, in: WorkerBounds.requestRates, "downloadRules.\(name)")
        }
        for (duration, name) in [(patience, "patience"), (retryTime, "retryTime")] {
            try InvalidSetting.check(duration, in: WorkerBounds.patience, "downloadRules.\(name)")
        }
        for (number, bounds, name) in [
            (maxBytes, WorkerBounds.bytes, "maxBytes"),
            (minBytesPerSecond, WorkerBounds.rates, "minBytesPerSecond"),
            (maxRedirects, WorkerBounds.retries, "maxRedirects"), (retries, WorkerBounds.retries, "retries"),
        ] {
            try InvalidSetting.check(number, in: bounds, "downloadRules.\(name)")
        }
        for (duration, name) in [
            (connectTimeout, "connectTimeout"), (stallTimeout, "stallTimeout"), (timeout, "timeout"),
        ] {
            try InvalidSetting.check(duration, in: WorkerBounds.timeouts, "downloadRules.\(name)")
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

    fileprivate static func check<Value: Comparable>(
        _ value: Value, in bounds: ClosedRange<Value>, _ name: String
    ) throws(InvalidSetting) {
        try unless(bounds.contains(value), name, value, "\(bounds.lowerBound) to \(bounds.upperBound)")
    }

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
