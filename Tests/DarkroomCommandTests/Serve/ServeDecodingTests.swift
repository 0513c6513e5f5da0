import DarkroomImaging
import DarkroomRecipes
import DarkroomTestSupport
import Foundation
import Testing

/// `darkroom serve` has the token and the password of Redis, and the hosts of the photos choose what is decoded.
@Suite(.redisServer, .serialized, .timeLimit(.minutes(5)))
struct ServeDecodingTests {

    private func sample(_ name: String) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: TestFiles.samples + "/" + name))
    }

    /// A sample, changed by filters.
    private func sample(_ name: String, _ filters: String, _ encoding: String) throws -> Data {
        let output = ImageOutput(
            filters: try [PhotoFilter](parsing: filters).builtIn, encoding: try PhotoEncoding(parsing: encoding))
        return try Imaging.develop(Array(sample(name)), DevelopOptions(outputs: [output]))[0]
            .withUnsafeBytes { Data($0) }
    }

    /// The functions with which the program decodes photos end the process that calls them.
    private static let trap = """
        #include <stdlib.h>
        #define TRAP(name) void name(void) { abort(); }
        TRAP(jpeg_CreateDecompress)
        TRAP(vips_jpegload_buffer)
        TRAP(vips_pngload_buffer)
        TRAP(vips_webpload_buffer)
        TRAP(vips_heifload_buffer)
        TRAP(vips_jxlload_buffer)
        TRAP(vips_tiffload_buffer)
        TRAP(vips_gifload_buffer)
        """

    private func makeTrap(in scratch: ScratchFolder) throws -> String {
        let source = try scratch.write("trap.c", Self.trap)
        let compiler = Process()
        compiler.executableURL = URL(fileURLWithPath: "/bin/sh")
        // Each Swift toolchain has a compiler for C, in Debian's package not on the PATH.
        let script = #"""
            PATH=$PATH:$(dirname "$(readlink -f "$(command -v swift)")")
            exec clang -shared -fPIC -fno-builtin -o "$1" "$2"
            """#
        compiler.arguments = ["-c", script, "sh", scratch.path("trap.so"), source]
        try compiler.run()
        compiler.waitUntilExit()
        try #require(compiler.terminationStatus == 0)
        return scratch.path("trap.so")
    }

    @Test func serverDecodesNothingItself() throws {
        let scratch = try ScratchFolder()
        let trap = ["LD_PRELOAD": try makeTrap(in: scratch)]
        for name in ["flower.jpg", "moon.png"] {
            let developing = try Program(
                ["develop", TestFiles.samples + "/" + name, scratch.path("out.jpg")], environment: trap)
            #expect(try developing.outcome().status == 128 + SIGABRT, "the trap does not work for \(name)")
        }
        let server = try ServingProgram(Queue(), environment: trap)
        let files = [
            try sample("flower.jpg"), try sample("moon.png"), try sample("flower.jpg", "resize=400", "format=webp"),
            try sample("flower.jpg", "grayscale rotate=90", "quality=80"),
            try sample("flower.jpg", "resize=300", "progressive"),
        ]
        let batch = try server.show(files)
        for (index, reply) in try server.thumbnails(files.count, of: batch).enumerated() {
            #expect(reply.status == 200, "\(index): \(reply.text.prefix(200))")
        }
        #expect(try server.call("GET", "/status").status == 200)
    }

    /// Photos that need much memory are decoded one at a time; other photos are decoded at the same time.
    @Test func largePhotosAreDecoded() throws {
        let server = try ServingProgram(Queue())
        let large = try sample("hubble_deep_field.jpg", "resize=6000x6000,fill", "progressive; chroma=444; quality=30")
        let batch = try server.show([large, large, large, try sample("flower.jpg")])
        for reply in try server.thumbnails(4, of: batch) {
            #expect(reply.status == 200, "\(reply.text.prefix(200))")
        }
        #expect(try server.mostMemory() < 160 << 20)
    }
}
