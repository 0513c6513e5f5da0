internal import CCurl
import DarkroomCoding

/// The body of a response: its content codings, its limits, and the memory that it may use.
extension EasyHandle {
    /// The largest size of an error page that is read to its end, so that its connection can be reused.
    private static let maxDiscardedBytes = 256 << 10
    /// A response may have twice as many bytes as the largest allowed body, plus this number.
    private static let maxExtraBytes = 1 << 20
    /// The steps in which memory is requested if a body has no known length.
    private static let bytesAtOnce = 1 << 20
    /// The steps in which memory is requested if a body has a known length. A server that announces a large body and
    /// sends it slowly must not get the memory that many other bodies could use.
    private static let knownBytesAtOnce = 8 << 20

    // MARK: Receiving

    /// Takes a part of the body, and returns the size of the part. Another result ends or pauses the attempt. After a
    /// pause, libcurl passes the same bytes again.
    func take(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard !isUnwanted else { return 0 }
        if received == 0, decoder == nil {
            beginBody()
            if isRefusedForBody { return 0 }
        }
        guard isSuccess else { return discard(bytes) ? bytes.count : 0 }
        if let decoder { return take(bytes, decoder) }
        switch room(for: bytes.count) {
        case .granted: break
        case .held: return Int(CURL_WRITEFUNC_PAUSE)
        case .denied: return 0
        }
        // If the length of the body is known, reserves the allowed memory at once. A Content-Length that is too large
        // costs only address space, at most the size of the largest allowed body.
        if received == 0, attempt?.onChunk == nil {
            body.reserveCapacity(min(allowance, settings.configuration.maxBytes))
        }
        return count(bytes.count) && keep(bytes) ? bytes.count : 0
    }

    /// Takes a part of a body that has content codings. During a pause, the decoder keeps its position in the part.
    private func take(_ bytes: UnsafeRawBufferPointer, _ decoder: ContentDecoder) -> Int {
        guard count(max(0, bytes.count - bytesCounted)) else { return 0 }
        let unread = UnsafeRawBufferPointer(rebasing: bytes[min(bytesRead, bytes.count)...])
        decoder.add(unread)
        switch drain(decoder, asksForRoom: true) {
        case .granted:
            bytesRead = max(0, bytesRead - bytes.count)
            bytesCounted = max(0, bytesCounted - bytes.count)
            return bytes.count
        case .held:
            bytesRead += unread.count - decoder.left
            bytesCounted = max(bytesCounted, bytes.count)
            return Int(CURL_WRITEFUNC_PAUSE)
        case .denied: return 0
        }
    }

    /// Decodes and keeps all bytes that the decoder has been given.
    private func drain(_ decoder: ContentDecoder, asksForRoom: Bool) -> Room {
        while true {
            if asksForRoom {
                // This call comes before the decoder allocates its memory. Therefore an attempt that waits for its
                // first bytes needs no memory.
                let room = room(for: 0)
                guard room == .granted else { return room }
            }
            let block: UnsafeRawBufferPointer
            do throws(CodingError) {
                block = try decoder.next()
            } catch {
                refusal = transferError(error)
                return .denied
            }
            guard kept + block.count <= settings.configuration.maxBytes else {
                refusal = tooLarge
                return .denied
            }
            if asksForRoom {
                let room = room(for: block.count)
                guard room == .granted else { return room }
            }
            if block.isEmpty { return .granted }
            guard keep(block) else { return .denied }
            decoder.take()
        }
    }

    /// Must be called after the last part of a body.
    func endBody() {
        guard isSuccess, let decoder else { return }
        decoder.end()
        // Until here, the decoder can have held back only the first three bytes of each coding.
        guard drain(decoder, asksForRoom: false) == .granted, !decoder.isComplete else { return }
        refusal = TransferError(
            code: .truncated, detail: "the compressed body ends too early, after \(received) bytes")
    }

    private func transferError(_ error: CodingError) -> TransferError {
        switch error.code {
        case .tooLarge: tooLarge
        case .outOfMemory: TransferError(code: .outOfMemory, detail: "the compressed body \(error.message)")
        case .damaged, .truncated:
            TransferError(code: .damagedCoding, detail: "the compressed body \(error.message)")
        }
    }

    /// Whether this process ended the attempt because of the body.
    var isRefusedForBody: Bool {
        switch refusal?.code {
        case .tooLarge, .truncated, .damagedCoding, .outOfMemory: true
        default: false
        }
    }

    private func beginBody() {
        darkroom_curl_easy_getinfo_long(curl, CURLINFO_RESPONSE_CODE, &status)
        if attempt?.mayCarry == nil { allowance = contentLength ?? 0 }
        guard isSuccess else { return }
        let codings = ContentCoding.codings(in: headers("Content-Encoding"))
        guard !codings.isEmpty else { return }
        do throws(CodingError) {
            decoder = try ContentDecoder(codings, maxBytes: settings.configuration.maxBytes)
        } catch {
            refusal = transferError(error)
        }
    }

    /// Counts bytes of the body as the server sent them. If this method returns false, the attempt ends.
    private func count(_ bytes: Int) -> Bool {
        peer?.isActive = true
        received += bytes
        peer?.bytes += bytes
        bytesCome += bytes
        guard isSuccess, received > settings.configuration.maxBytes else { return true }
        refusal = tooLarge
        return false
    }

    /// Counts a part of a body that is not a photo. If this method returns false, the attempt ends.
    private func discard(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard count(bytes.count), received > Self.maxDiscardedBytes else { return true }
        refusal = TransferError(
            code: .tooLarge, detail: "more than \(Self.maxDiscardedBytes) bytes with HTTP status \(status)")
        return false
    }

    /// Stores a part of the decoded body. Returns false if the body is too wasteful; the download attempt then ends.
    private func keep(_ bytes: UnsafeRawBufferPointer) -> Bool {
        kept += bytes.count
        guard !isTooWasteful else { return false }
        if let onChunk = attempt?.onChunk {
            hasStreamed = true
            onChunk(bytes)
        } else {
            body.append(contentsOf: bytes)
        }
        isActive = true
        return true
    }

    /// Whether far more bytes have arrived than the largest body with its chunk framing needs.
    var isTooWasteful: Bool {
        let (doubled, overflow) = settings.configuration.maxBytes.multipliedReportingOverflow(by: 2)
        guard !overflow, wireBytes - Self.maxExtraBytes > doubled else { return false }
        refusal = TransferError(
            code: .tooLarge,
            detail: "\(wireBytes) bytes received for \(received) bytes of a body; the rest is chunk framing"
        )
        return true
    }

    // MARK: Room

    private enum Room { case granted, held, denied }

    /// Asks for memory for `count` further bytes of the body and for its decoder, unless this memory was already
    /// granted.
    private func room(for count: Int) -> Room {
        let needed = kept + count + (decoder?.mostMemory ?? 0)
        guard let attempt, let mayCarry = attempt.mayCarry, needed > allowance else { return .granted }
        let wanted = bytesWanted(needed)
        guard !mayCarry(wanted) else {
            allowance = wanted
            return .granted
        }
        guard mayBeHeld() else {
            // The next attempt gets much more memory, so that few attempts suffice.
            let more = max(contentLength ?? wanted, 2 * kept, allowance + Self.bytesAtOnce)
            bytesOfNextAttempt = min(more, settings.configuration.maxBytes)
            return .denied
        }
        heldSince = .now
        held(attempt, wanted, hasRoom)
        return .held
    }

    /// Whether the attempt was allowed to use memory, in which it may keep a part of the body. Other attempts may wait
    /// until this attempt releases the memory.
    var hasRoom: Bool { kept > 0 || allowance > 0 }

    /// The number of bytes to ask for, so that at least `count` bytes can be used.
    private func bytesWanted(_ count: Int) -> Int {
        let length = decoder == nil ? contentLength.flatMap { $0 >= count ? $0 : nil } : nil
        let step = length == nil ? Self.bytesAtOnce : Self.knownBytesAtOnce
        let memory = decoder?.mostMemory ?? 0
        let most = settings.configuration.maxBytes + memory
        return max(count, min(max(allowance, memory) + step, length ?? .max, most))
    }

    /// The length of the body according to the header; nil if the header does not contain it.
    private var contentLength: Int? {
        var length: curl_off_t = 0
        darkroom_curl_easy_getinfo_offset(curl, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length)
        return length > 0 ? Int(length) : nil
    }

    /// Whether the attempt may wait while its connection is open. With HTTP/1, libcurl stops reading, and the server
    /// waits. With HTTP/2, libcurl must continue to read for the other attempts of the connection, and stores the bytes
    /// of this body that it receives.
    private func mayBeHeld() -> Bool {
        // libcurl decodes transfer codings, although no request asks for one, and would store the decoded bytes.
        guard !hasTransferCoding else { return false }
        guard isMultiplexed == true else { return true }
        let bytes = min(contentLength.map { max(0, $0 - received) } ?? .max, NetworkShares.streamWindow)
        guard shares.hold(bytes) else { return false }
        heldBytes = bytes
        return true
    }

    /// Whether the body has a transfer coding other than `chunked`.
    private var hasTransferCoding: Bool {
        headers("Transfer-Encoding").contains { line in
            line.lowercased().split { $0 == "," || $0 == " " || $0 == "\t" }.contains { $0 != "chunked" }
        }
    }
}
