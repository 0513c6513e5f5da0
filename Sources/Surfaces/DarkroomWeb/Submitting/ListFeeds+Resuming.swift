import Darkroom
import DarkroomConcurrency
import DarkroomCoordinator
import DarkroomLists
import DarkroomLogging
import DarkroomStore

/// Continues the submissions and feeds that were interrupted, and withdraws lists.
extension ListFeeds {
    /// On a separate thread, continues the feeds that an earlier process has not completed. Later, this thread
    /// continues the feeds that are interrupted because Redis is unreachable.
    package func resumeInterrupted() {
        state.withLock { $0.interrupted = lists.records().map { Feed(record: $0) } }
        // The call does not wait for the end of the thread, because the server of a list may not answer.
        _ = OwnedThread("interrupted feeds") { [weak self] in
            while let signal = self?.signal, let isWaiting = self?.resumeAll() {
                signal.wait(timeout: isWaiting ? Self.pause : nil)
            }
        }
    }

    /// Tries to continue the interrupted feeds that are due.
    /// - Returns: whether some must be tried again; nil after ``stop()``.
    private func resumeAll() -> Bool? {
        let now = ContinuousClock.now
        let due = state.withLock { state in
            defer { state.interrupted.removeAll { $0.due <= now } }
            return state.interrupted.filter { $0.due <= now }
        }
        for feed in due {
            guard !state.withLock({ $0.isStopped }) else { return nil }
            if feed.record.isWithdrawn { withdraw(feed) } else { resume(feed) }
        }
        return state.withLock { $0.isStopped ? nil : !$0.interrupted.isEmpty }
    }

    private func resume(_ feed: Feed) {
        var feed = feed
        let record = feed.record
        do {
            let batch = try client.store.facts(of: record.batch)
            if let batch, batch.sealed || batch.cancelled {
                return lists.remove(record, because: batch.cancelled ? Self.cancelled : Self.fed)
            }
            if batch == nil, let redis = record.redis, redis != self.redis {
                return logger.error(
                    "keeps a list whose batch is not in this Redis: a server with the Redis of the batch continues it",
                    [.batch: .text(record.batch), "list": .text(record.name), "redis": .text(redis)])
            }
            // The process may have been killed before it created the folders.
            if let options = batch?.options, batch?.photos == 0 {
                folders.make(output: options.output, originals: options.originals, for: record.batch)
            }
            // Redis does not have the batch if an earlier process was killed before it had submitted the batch, or if
            // Redis has lost it. Redis refuses the id of a batch that was forgotten.
            feed.wasMissing = batch == nil
            let fields = SubmittedFields(given: record.fields, outputs: outputs)
            let list = lists.location(of: record.list)
            if batch == nil {
                _ = try begin(fields.submission(of: list), Locked(feed), as: record.batch)
            } else {
                try continueFeed(feed, from: fields.photoList(at: list))
            }
            logger.info("continues to feed a list", [.batch: .text(record.batch), "list": .text(record.name)])
        } catch {
            failed(feed, error)
        }
    }

    /// Handles a feed that has failed: tries the feed again later, or gives it up.
    func failed(_ feed: Feed, _ error: any Error) {
        // After a stop, the next start continues the feed.
        guard !state.withLock({ $0.isStopped }) else { return }
        var feed = feed
        feed.due = .now
        // A later attempt can succeed if all places for feeds are taken, if Redis is unreachable, or if Redis lost the
        // batch.
        var continues = DarkroomError(error, "feed a list").isTransient || !feed.wasMissing && Self.isGone(error)
        if let error = error as? PhotoListError, error.code == .unreadable {
            feed.due += Self.pause * (1 << feed.failures)
            feed.failures += 1
            continues = feed.failures < Self.mostFailures
        }
        let about: LogMetadata = [
            .batch: .text(feed.record.batch), "list": .text(feed.record.name), "detail": .text("\(error)"),
        ]
        if continues {
            logger.warning("a feed is interrupted, tries again", about)
            state.withLock { $0.interrupted.append(feed) }
        } else {
            logger.error("cannot feed a list to its end", about)
            lists.remove(feed.record, because: "its feed has failed: \(error)")
        }
    }

    private static func isGone(_ error: any Error) -> Bool { (error as? CoordinatorError)?.code == .batchGone }

    // MARK: - Withdrawing

    /// Removes the list of a request that failed before its batch was submitted.
    /// - Parameters:
    ///   - mayExist: Whether an attempt to submit the batch was made, so that Redis may have the batch.
    ///   - isAway: Whether Redis is unreachable.
    func drop(_ record: ListStore.Record, because why: String, mayExist: Bool, isAway: Bool) {
        logger.info(
            "a list is not submitted",
            [.batch: .text(record.batch), "list": .text(record.name), "detail": .text(why)])
        do {
            if mayExist {
                guard !isAway else { return withdrawLater(record) }
                try remove(record.batch)
            }
            lists.remove(record, because: "the list is not submitted")
        } catch {
            withdrawLater(record)
        }
    }

    private func withdrawLater(_ record: ListStore.Record) {
        var feed = Feed(record: record)
        feed.record.isWithdrawn = true
        feed.due += Self.pause
        do {
            try lists.write(feed.record)
        } catch {
            // Without the mark, a server that starts before the removal submits the list.
            logger.error(
                "cannot mark a list as not submitted", [.batch: .text(record.batch), "detail": .text("\(error)")])
        }
        state.withLock { $0.interrupted.append(feed) }
        signal.raise()
    }

    /// Removes the batch of a list, after the client was told that the list is not submitted. Does so twice: Redis may
    /// execute a call on a closed connection after a call on a new connection.
    private func withdraw(_ feed: Feed) {
        var feed = feed
        do {
            try remove(feed.record.batch)
            feed.withdrawals += 1
            guard feed.withdrawals < 2 else {
                return lists.remove(feed.record, because: "the list is not submitted")
            }
        } catch {
            logger.warning(
                "cannot remove the batch of a list that is not submitted, tries again",
                [.batch: .text(feed.record.batch), "detail": .text("\(error)")])
        }
        feed.due = .now + Self.pause
        state.withLock { $0.interrupted.append(feed) }
    }

    /// Removes a batch without photos, if Redis has it.
    private func remove(_ batch: BatchID) throws {
        while try client.store.perform(client.store.forget(batch, unfinished: true)) == .more {}
    }
}
