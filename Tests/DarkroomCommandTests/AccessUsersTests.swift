import Darkroom
import DarkroomTestSupport
import Foundation
import Testing

/// The Redis server of `docker-compose.yml`, started by `deploy/acl/redis` with the passwords of
/// `deploy/acl/passwords`.
@Suite(.timeLimit(.minutes(5))) struct AccessUsersTests {
    private static let folder = TestFiles.package.appendingPathComponent("deploy/acl").path

    private let scratch: ScratchFolder
    private let port: Int

    init() throws {
        scratch = try ScratchFolder()
        port = try RedisServer.freePort()
    }

    private func makePasswords() throws -> [String] {
        let process = Process()
        process.executableURL = URL(filePath: Self.folder + "/passwords")
        process.arguments = [scratch.path("secrets")]
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return try ["worker", "coordinator", "monitor"].map {
            try String(contentsOfFile: scratch.path("secrets/\($0)"), encoding: .utf8)
        }
    }

    private func run(_ command: String..., role: String) throws -> Program.Outcome {
        let access = [
            "--redis", "redis://darkroom-\(role)@127.0.0.1:\(port)", "--redis-password-file",
            scratch.path("secrets/\(role)"),
        ]
        // As in a container, the environment names the password file of one role. The option overrides it.
        let environment = ["DARKROOM_REDIS_PASSWORD_FILE": scratch.path("secrets/worker")]
        return try Program(command + access, environment: environment).outcome()
    }

    @Test func passwordsRequireAPrivateFolder() throws {
        #expect(try makePasswords().count == 3)
        var found = stat()
        #expect(lstat(scratch.path("secrets"), &found) == 0 && found.st_mode & 0o777 == 0o700)
        let open = scratch.path("open")
        for mode in [0o755, 0o710, 0o701] as [mode_t] {
            #expect((mkdir(open, 0o700) == 0 || errno == EEXIST) && chmod(open, mode) == 0)
            let process = Process()
            let output = Pipe()
            process.executableURL = URL(filePath: Self.folder + "/passwords")
            process.arguments = [open]
            process.standardError = output
            try process.run()
            let message = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            #expect(process.terminationStatus == 1, "\(message)")
            #expect(message.contains("other users own or may enter the folder \(open)"), "\(message)")
            #expect(try scratch.contents("open").isEmpty)
        }
    }

    @Test func eachRoleHasItsPasswordAndPermissions() throws {
        let passwords = try makePasswords()
        #expect(Set(passwords).count == 3 && passwords.allSatisfy { $0.utf8.count == 64 })
        #expect(try makePasswords() == passwords, "the script replaced existing passwords")

        let server = try BoundProcess(
            [
                "env", "DARKROOM_SECRETS=\(scratch.path("secrets"))", "sh", Self.folder + "/redis", "--port", "\(port)",
                "--bind", "127.0.0.1", "--save", "", "--dir", scratch.path(""),
            ], log: scratch.path("log"))
        defer { server.stop() }
        try waitUntil("a user can log in") { try run("batches", role: "monitor").status == 0 }
        #expect(try run("workers", "--json", role: "monitor").status == 0)
        #expect(try run("suspend", "--all", role: "coordinator").status == 0)
        let forbidden = try run("resume", "--all", role: "monitor")
        #expect(forbidden.status == 1 && forbidden.standardError.contains("NOPERM"), "\(forbidden)")
        let nobody = try Program(["batches", "--redis", "redis://127.0.0.1:\(port)"]).outcome()
        #expect(nobody.status == 1, "\(nobody)")
    }

    /// A killed server may leave a part of a transaction at the end of its append-only file. If the next server appended to
    /// it, the server after that would execute this part.
    @Test func partOfATransactionIsRemovedBeforeTheStart() throws {
        _ = try makePasswords()
        let data = scratch.path("data")
        try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true)
        let arguments = [
            "env", "DARKROOM_SECRETS=\(scratch.path("secrets"))", "sh", Self.folder + "/redis", "--port", "\(port)",
            "--bind", "127.0.0.1", "--appendonly", "yes", "--dir", data,
        ]
        func start() throws -> BoundProcess {
            let server = try BoundProcess(arguments, log: scratch.path("log"))
            try waitUntil("the server answers") { try run("batches", role: "monitor").status == 0 }
            return server
        }
        var server = try start()
        #expect(try run("suspend", "--all", role: "coordinator").status == 0)
        server.stop()
        let name = try #require(try scratch.contents("data/appendonlydir").first { $0.hasSuffix(".incr.aof") })
        let path = scratch.path("data/appendonlydir/\(name)")
        let whole = try Data(contentsOf: URL(filePath: path))
        let part = "*1\r\n$5\r\nMULTI\r\n*3\r\n$3\r\nSET\r\n$1\r\nx\r\n$1\r\n1\r\n*3\r\n$3\r\nSET\r\n$1"
        try (whole + Data(part.utf8)).write(to: URL(filePath: path))
        server = try start()
        server.stop()
        let left = try Data(contentsOf: URL(filePath: path))
        #expect(left.range(of: Data("SET\r\n$1\r\nx".utf8)) == nil && left.starts(with: whole))
    }
}
