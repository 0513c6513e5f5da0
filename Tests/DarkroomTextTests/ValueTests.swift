import DarkroomText
import Testing

@Suite struct ValueTests {
    @Test(arguments: [
        ("15s", Duration.seconds(15)), ("5m", .seconds(300)), ("24h", .seconds(86_400)), ("1m30s", .seconds(90)),
        ("250ms", .milliseconds(250)), ("1.5s", .milliseconds(1500)), ("0s", .zero), ("7d", .seconds(604_800)),
        ("1h0m1ms", .milliseconds(3_600_001)), ("300", .seconds(300)), ("1.5", .milliseconds(1500)), ("0", .zero),
    ])
    func durations(text: String, value: Duration) throws {
        #expect(try Duration(argument: text) == value)
    }

    @Test(arguments: [
        (Duration.seconds(15), "15s"), (.seconds(90), "1m30s"), (.seconds(86_400), "24h"), (.zero, "0s"),
        (.milliseconds(250), "250ms"), (.seconds(Int64.max), "9.223372036854776e+18s"),
    ])
    func durationsAsText(value: Duration, text: String) {
        #expect(value.argumentText == text)
    }

    @Test(arguments: [
        "", ".", "1m30", "s", "-5s", "5 s", "5s ", "1..5s", "5x", "5sm", "99999999999h", "300y", "inf", "nans", "٣s",
        "9999999999999999999999s", "200000d200000d",
    ])
    func rejectsInvalidDurations(text: String) {
        #expect(throws: InvalidValue.self) { try Duration(argument: text) }
    }

    @Test(arguments: [
        ("64MiB", 67_108_864), ("10MB", 10_000_000), ("512KiB", 524_288), ("1.5GiB", 1_610_612_736), ("100", 100),
        ("100B", 100), ("1kB", 1000), ("1KB", 1000), ("2tib", 2_199_023_255_552), ("0", 0),
    ])
    func byteSizes(text: String, bytes: Int) throws {
        #expect(try ByteSize(argument: text).bytes == bytes)
    }

    @Test(arguments: ["", "MiB", "64M", "64 MiB", "-1MB", "1e3", "9999999999TiB", "0x10", "1.5.5MB"])
    func rejectsInvalidByteSizes(text: String) {
        #expect(throws: InvalidValue.self) { try ByteSize(argument: text) }
    }

    @Test(arguments: [
        (67_108_864, "64MiB"), (10_000_000, "10MB"), (1 << 30, "1GiB"), (12_345, "12345B"), (0, "0"),
    ])
    func byteSizesAsText(bytes: Int, text: String) {
        #expect(ByteSize(bytes: bytes).argumentText == text)
    }

    @Test(arguments: [("100M", 100_000_000), ("10k", 10_000), ("1.5M", 1_500_000), ("50", 50), ("2G", 2_000_000_000)])
    func quantities(text: String, value: Int) throws {
        #expect(try Quantity(argument: text).value == value)
        #expect(try Quantity(argument: Quantity(value).argumentText).value == value)
    }

    @Test(arguments: ["", "k", "10K", "10m", "-1", "99999999999G", "1_000"])
    func rejectsInvalidQuantities(text: String) {
        #expect(throws: InvalidValue.self) { try Quantity(argument: text) }
    }
}
