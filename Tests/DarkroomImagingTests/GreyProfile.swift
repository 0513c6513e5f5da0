/// A grey colour profile (ICC.1, version 2) with linear light, that is, gamma 1.
enum GreyProfile {
    static let linear: [UInt8] = {
        func number(_ value: Int) -> [UInt8] { PNG.bigEndian(value) }
        let curve = Array("curv".utf8) + number(0) + number(1) + [1, 0, 0, 0]
        let white = Array("XYZ ".utf8) + number(0) + number(0xF6D6) + number(0x10000) + number(0xD32D)
        let text = Array("text".utf8) + number(0) + Array("test".utf8)
        let name =
            Array("desc".utf8) + number(0) + number(5) + Array("grey\0".utf8)
            + [UInt8](repeating: 0, count: 4 + 4 + 2 + 1 + 67 + 2)
        let tags = [("desc", name), ("cprt", text), ("wtpt", white), ("kTRC", curve)]

        var table = number(tags.count)
        var data: [UInt8] = []
        for (signature, bytes) in tags {
            table += Array(signature.utf8) + number(128 + 4 + 12 * tags.count + data.count) + number(bytes.count)
            data += bytes
            while data.count % 4 != 0 { data.append(0) }
        }
        var header = number(128 + table.count + data.count) + Array("none".utf8) + number(0x0210_0000)
        header += Array("mntrGRAYXYZ ".utf8) + [UInt8](repeating: 0, count: 12) + Array("acsp".utf8)
        header += [UInt8](repeating: 0, count: 28) + number(0xF6D6) + number(0x10000) + number(0xD32D)
        header += [UInt8](repeating: 0, count: 128 - header.count)
        return header + table + data
    }()
}
