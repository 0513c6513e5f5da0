// swift-tools-version: 6.0
import PackageDescription

/// A C library that Debian ships, found by pkg-config and installed by `deploy/dependencies`.
///
/// SwiftPM reads the pkg-config files of a library and its dependencies, and warns about each flag that is not a path.
/// For libvips it would print hundreds of warnings, so this package contains a shorter pkg-config file for libvips.
/// Libraries in the default paths of the compiler need no pkg-config file.
func debian(_ name: String, pkgConfig: String, package: String) -> Target {
    .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt([package])])
}

/// glibc checks buffer sizes only in optimized code. `deploy/build` adds the hardening that needs other options.
let hardening: [CSetting] = [.define("_FORTIFY_SOURCE", to: "3", .when(configuration: .release))]

/// The targets in a folder of `Sources`.
func room(_ folder: String, _ targets: [Target]) -> [Target] {
    for target in targets {
        target.path = "Sources/\(folder)/\(target.name)"
    }
    return targets
}

let rooms: [[Target]] = [
    // Texts, threads, files, codings and arguments, independent of photos.
    room(
        "Base",
        [
            .target(name: "DarkroomText"),
            .target(name: "DarkroomConcurrency", dependencies: ["DarkroomText", "CSystem"]),
            .target(name: "DarkroomFiles", dependencies: ["DarkroomText", "CSystem"]),
            .target(name: "DarkroomCoding", dependencies: ["CZlib", "CBrotli", "CZstd", "CCrypto"]),
            .target(name: "ArgumentParsing", dependencies: ["DarkroomText"]),
            .target(name: "CSystem", cSettings: hardening),
        ]),
    // Only module maps and shims of C libraries that Debian ships.
    room(
        "CLibraries",
        [
            .systemLibrary(name: "CHiredis"),
            .systemLibrary(name: "CCurl"),
            debian("CAres", pkgConfig: "libcares", package: "libc-ares-dev"),
            debian("CIDN", pkgConfig: "libidn2", package: "libidn2-dev"),
            debian(
                "CVips", pkgConfig: Context.packageDirectory + "/Sources/CLibraries/CVips/vips.pc",
                package: "libvips-dev"),
            debian("CJPEG", pkgConfig: "libjpeg", package: "libjpeg-dev"),
            debian("CZlib", pkgConfig: "zlib", package: "zlib1g-dev"),
            debian("CBrotli", pkgConfig: "libbrotlidec", package: "libbrotli-dev"),
            debian("CZstd", pkgConfig: "libzstd", package: "libzstd-dev"),
            debian("CCrypto", pkgConfig: "libcrypto", package: "libssl-dev"),
            debian("CTLS", pkgConfig: "libssl", package: "libssl-dev"),
            debian("CMicrohttpd", pkgConfig: "libmicrohttpd", package: "libmicrohttpd-dev"),
        ]),
    // Clients and servers of protocols, independent of batches.
    room(
        "Wires",
        [
            .target(name: "DarkroomTLS", dependencies: ["CCurl", "CTLS", "DarkroomConcurrency", "DarkroomFiles"]),
            .target(
                name: "DarkroomRedis",
                dependencies: [
                    "CHiredis", "CCurl", "CCrypto", "CSystem", "DarkroomTLS", "DarkroomConcurrency", "DarkroomFiles",
                    "DarkroomText",
                ]),
            .target(name: "DarkroomHosts"),
            .target(
                name: "DarkroomTransfer",
                dependencies: [
                    "CAres", "CCurl", "CIDN", "DarkroomHosts", "DarkroomTLS", "DarkroomCoding", "DarkroomConcurrency",
                    "DarkroomFiles", "DarkroomText",
                ]),
            .target(
                name: "DarkroomHTTP",
                dependencies: ["CMicrohttpd", "DarkroomConcurrency", "DarkroomFiles", "DarkroomText"]),
        ]),
    // Filter chains and formats as texts, and what they do to pixels.
    room(
        "Imaging",
        [
            .target(name: "CImaging", dependencies: ["CVips", "CJPEG", "CZlib", "CBrotli"], cSettings: hardening),
            .target(name: "DarkroomRecipes", dependencies: ["DarkroomText"]),
            .target(name: "DarkroomImaging", dependencies: ["CImaging", "DarkroomConcurrency", "DarkroomRecipes"]),
        ]),
    // Batches: model, photo lists, keys and scripts in Redis, storage of results, coordinator.
    room(
        "Batches",
        [
            .target(
                name: "DarkroomModel",
                dependencies: ["DarkroomRecipes", "DarkroomText", "DarkroomCoding", "DarkroomHosts"]),
            .target(
                name: "DarkroomStorage",
                dependencies: [
                    "DarkroomModel", "DarkroomCoding", "DarkroomConcurrency", "DarkroomFiles", "DarkroomText",
                ]),
            .target(
                name: "DarkroomLists",
                dependencies: [
                    "DarkroomModel", "DarkroomTransfer", "DarkroomCoding", "DarkroomConcurrency", "DarkroomFiles",
                    "DarkroomText",
                ]),
            .target(
                name: "DarkroomStore",
                dependencies: ["DarkroomHosts", "DarkroomModel", "DarkroomRedis", "DarkroomStorage", "DarkroomText"],
                resources: [.embedInCode("Scripts/Lua"), .embedInCode("Scripts/Steps")]),
            .target(
                name: "DarkroomCoordinator",
                dependencies: [
                    "DarkroomStore", "DarkroomStorage", "DarkroomLists", "DarkroomCoding", "DarkroomConcurrency",
                    "DarkroomModel", "DarkroomRedis",
                ]),
        ]),
    // The worker, and its state machine, which has no side effects.
    room(
        "Worker",
        [
            .target(
                name: "DarkroomWorkerState",
                dependencies: ["DarkroomHosts", "DarkroomModel", "DarkroomConcurrency"]),
            .target(
                name: "DarkroomOrigins",
                dependencies: [
                    "DarkroomStorage", "DarkroomHosts", "DarkroomTransfer", "DarkroomModel", "DarkroomCoding",
                    "DarkroomConcurrency", "DarkroomFiles", "DarkroomText",
                ]),
            .target(
                name: "DarkroomWorker",
                dependencies: [
                    "DarkroomWorkerState", "DarkroomOrigins", "DarkroomStore",
                    "DarkroomStorage", "DarkroomHosts", "DarkroomTransfer", "DarkroomImaging", "DarkroomRecipes",
                    "DarkroomCoding", "DarkroomConcurrency", "DarkroomFiles", "DarkroomLogging", "DarkroomText",
                    "CSystem",
                    "DarkroomModel", "DarkroomRedis",
                ]),
        ]),
    // Metrics, the log and traces.
    room(
        "Observing",
        [
            .target(name: "DarkroomMetrics"),
            .target(name: "DarkroomLogging", dependencies: ["DarkroomModel", "DarkroomConcurrency", "DarkroomText"]),
            .target(
                name: "DarkroomTelemetry",
                dependencies: [
                    "DarkroomMetrics", "DarkroomWorker", "DarkroomWorkerState", "DarkroomModel", "DarkroomHTTP",
                    "DarkroomTransfer", "DarkroomLogging", "DarkroomConcurrency", "DarkroomText",
                ]),
        ]),
    // The library, the pages with the HTTP API, the command line.
    room(
        "Surfaces",
        [
            .target(
                name: "Darkroom",
                dependencies: [
                    "DarkroomModel", "DarkroomLists", "DarkroomCoordinator", "DarkroomStore", "DarkroomRedis",
                    "DarkroomWorker", "DarkroomTransfer", "DarkroomImaging", "DarkroomStorage", "DarkroomLogging",
                    "DarkroomConcurrency",
                    "DarkroomFiles", "DarkroomText", "DarkroomRecipes",
                ]),
            .target(
                name: "DarkroomWeb",
                dependencies: [
                    "DarkroomStorage",
                    "Darkroom", "DarkroomHTTP", "DarkroomStore", "DarkroomRedis", "DarkroomCoordinator",
                    "DarkroomLists", "DarkroomModel",
                    "DarkroomOrigins", "DarkroomWorker", "DarkroomImaging", "DarkroomMetrics", "DarkroomRecipes",
                    "DarkroomFiles",
                    "DarkroomCoding", "DarkroomConcurrency", "DarkroomLogging", "DarkroomText",
                ],
                // For the tests of the scripts in Node.js.
                exclude: ["Assets/package.json"],
                resources: [.embedInCode("Assets")]),
            .executableTarget(
                name: "DarkroomCommand",
                dependencies: [
                    "Darkroom", "DarkroomWeb", "DarkroomHTTP", "DarkroomCoordinator", "DarkroomStore", "DarkroomRedis",
                    "DarkroomWorker", "DarkroomTransfer", "DarkroomImaging", "DarkroomRecipes",
                    "DarkroomStorage", "DarkroomLogging", "DarkroomConcurrency", "DarkroomFiles", "DarkroomText",
                    "DarkroomTelemetry", "DarkroomCoding", "DarkroomLists", "ArgumentParsing", "CSystem",
                ]),
        ]),
    [
        // Measures Darkroom.
        .executableTarget(
            name: "DarkroomBench",
            dependencies: [
                "Darkroom", "DarkroomCoordinator", "DarkroomStore", "DarkroomRedis", "DarkroomWorker",
                "DarkroomImaging", "DarkroomRecipes", "DarkroomLogging", "DarkroomPhotoServer",
                "DarkroomConcurrency", "DarkroomText", "DarkroomWorkerState", "ArgumentParsing", "CSystem",
                "DarkroomModel", "DarkroomLists",
            ],
            path: "Benchmarks/DarkroomBench"),

        // Programs that use the library.
        .executableTarget(name: "ControlBatch", dependencies: ["Darkroom"], path: "Examples/ControlBatch"),
        .executableTarget(
            name: "CopyrightFilter", dependencies: ["Darkroom"], path: "Examples/CopyrightFilter"),

        // Tests.
        .target(
            name: "DarkroomPhotoServer", dependencies: ["CMicrohttpd", "DarkroomConcurrency", "DarkroomText"],
            path: "Tests/DarkroomPhotoServer"),
        .target(
            name: "DarkroomTestSupport",
            dependencies: ["DarkroomRedis", "DarkroomConcurrency", "CSystem", "CTLS", "CZlib"],
            path: "Tests/DarkroomTestSupport"),
        .target(name: "FuzzSupport", path: "Tests/FuzzSupport"),
        .target(name: "ErrorExpectations", path: "Tests/ErrorExpectations"),
        .target(name: "CAttacks", path: "Tests/CAttacks"),
        .target(
            name: "CImagingProbes", dependencies: ["CImaging", "CVips"], path: "Tests/CImagingProbes",
            cSettings: [.headerSearchPath("../../Sources/Imaging/CImaging")]),
        .executableTarget(
            name: "HostileWorker", dependencies: ["Darkroom", "DarkroomRedis", "DarkroomWorker", "CAttacks"],
            path: "Tests/HostileWorker"),
        .target(
            name: "WorkerSupport", dependencies: ["Darkroom", "DarkroomWorker", "DarkroomConcurrency"],
            path: "Tests/WorkerSupport"),
        .testTarget(name: "DarkroomTextTests", dependencies: ["DarkroomText", "FuzzSupport"]),
        .testTarget(name: "DarkroomConcurrencyTests", dependencies: ["DarkroomConcurrency"]),
        .testTarget(name: "DarkroomMetricsTests", dependencies: ["DarkroomMetrics", "DarkroomTestSupport"]),
        .testTarget(
            name: "DarkroomTelemetryTests",
            dependencies: [
                "DarkroomTelemetry", "DarkroomWorkerState", "DarkroomStore", "DarkroomModel", "DarkroomLogging",
                "DarkroomTestSupport",
            ]),
        .testTarget(
            name: "DarkroomRecipesTests", dependencies: ["DarkroomRecipes", "FuzzSupport", "ErrorExpectations"]),
        .testTarget(
            name: "ArgumentParsingTests", dependencies: ["ArgumentParsing", "DarkroomText", "ErrorExpectations"]),
        .testTarget(
            name: "DarkroomFilesTests",
            dependencies: ["DarkroomFiles", "DarkroomConcurrency", "DarkroomTestSupport", "CSystem"]),
        .testTarget(name: "DarkroomCodingTests", dependencies: ["DarkroomCoding", "DarkroomTestSupport"]),
        .testTarget(
            name: "DarkroomTLSTests",
            dependencies: ["DarkroomTLS", "DarkroomConcurrency", "CCurl", "DarkroomTestSupport", "ErrorExpectations"]),
        .testTarget(
            name: "DarkroomRedisTests",
            dependencies: ["DarkroomRedis", "DarkroomTestSupport", "ErrorExpectations", "DarkroomConcurrency"]),
        .testTarget(
            name: "DarkroomTransferTests",
            dependencies: [
                "DarkroomTransfer", "DarkroomHosts", "DarkroomPhotoServer", "DarkroomConcurrency",
                "DarkroomTestSupport", "ErrorExpectations", "FuzzSupport",
            ]),
        .testTarget(
            name: "DarkroomHTTPTests",
            dependencies: [
                "DarkroomHTTP", "DarkroomConcurrency", "DarkroomTestSupport", "ErrorExpectations", "FuzzSupport",
            ]),
        .testTarget(
            name: "DarkroomImagingTests",
            dependencies: [
                "DarkroomImaging", "DarkroomRecipes", "DarkroomConcurrency", "CImaging", "CJPEG", "CZlib",
                "CImagingProbes", "FuzzSupport", "ErrorExpectations", "DarkroomTestSupport",
            ],
            // The tests compute many pixels.
            swiftSettings: [.unsafeFlags(["-O"])]),
        .testTarget(
            name: "DarkroomModelTests",
            dependencies: ["DarkroomModel", "ErrorExpectations"]),
        .testTarget(
            name: "DarkroomListsTests",
            dependencies: [
                "DarkroomLists", "DarkroomModel", "DarkroomStorage", "DarkroomCoding", "DarkroomConcurrency",
                "DarkroomFiles", "DarkroomTestSupport", "ErrorExpectations", "FuzzSupport",
            ]),
        .testTarget(
            name: "DarkroomStorageTests",
            dependencies: [
                "DarkroomStorage", "DarkroomModel", "DarkroomCoding", "DarkroomConcurrency", "DarkroomFiles",
                "DarkroomTestSupport", "FuzzSupport", "ErrorExpectations",
            ]),
        .testTarget(
            name: "DarkroomLoggingTests",
            dependencies: ["DarkroomLogging", "DarkroomConcurrency", "DarkroomTestSupport"]),
        .target(
            name: "StoreInspection",
            dependencies: ["DarkroomStore", "DarkroomModel", "DarkroomRedis"],
            path: "Tests/StoreInspection"),
        .testTarget(
            name: "DarkroomStoreTests",
            dependencies: [
                "DarkroomStore", "DarkroomHosts", "StoreInspection", "DarkroomTestSupport", "ErrorExpectations",
                "FuzzSupport", "DarkroomConcurrency", "DarkroomModel", "DarkroomRecipes", "DarkroomRedis",
            ]),
        .testTarget(
            name: "DarkroomCoordinatorTests",
            dependencies: [
                "DarkroomCoordinator", "DarkroomLists", "DarkroomFiles", "StoreInspection", "DarkroomTestSupport",
                "ErrorExpectations", "DarkroomCoding", "DarkroomConcurrency", "DarkroomStorage", "DarkroomModel",
                "DarkroomRedis", "DarkroomStore",
            ]),
        .testTarget(
            name: "DarkroomWorkerStateTests",
            dependencies: ["DarkroomWorkerState", "DarkroomHosts", "FuzzSupport", "DarkroomModel"]),
        .testTarget(
            name: "DarkroomOriginsTests",
            dependencies: [
                "DarkroomOrigins", "DarkroomStorage", "DarkroomTransfer", "DarkroomModel", "DarkroomCoding",
                "DarkroomConcurrency", "DarkroomText", "DarkroomTestSupport", "ErrorExpectations",
            ]),
        .testTarget(
            name: "DarkroomWorkerTests",
            dependencies: [
                "DarkroomWorker", "DarkroomWorkerState", "DarkroomOrigins",
                "DarkroomCoordinator", "DarkroomCoding", "DarkroomLogging", "DarkroomPhotoServer", "DarkroomImaging",
                "DarkroomRecipes", "StoreInspection", "DarkroomTestSupport", "ErrorExpectations", "FuzzSupport",
                "DarkroomConcurrency", "DarkroomStorage", "DarkroomFiles", "DarkroomModel", "DarkroomRedis",
                "DarkroomStore", "DarkroomTransfer", "WorkerSupport",
            ]),
        .testTarget(
            name: "DarkroomTests",
            dependencies: [
                "Darkroom", "DarkroomStore", "DarkroomConcurrency", "DarkroomTestSupport", "ErrorExpectations",
                "ControlBatch", "CopyrightFilter", "DarkroomModel", "WorkerSupport",
            ]),
        .testTarget(
            name: "DarkroomCommandTests",
            dependencies: [
                "DarkroomStorage",
                "Darkroom", "DarkroomCoordinator", "DarkroomStore", "DarkroomRedis", "DarkroomWorker",
                "DarkroomTransfer", "DarkroomImaging", "DarkroomRecipes", "DarkroomLogging",
                "DarkroomCoding", "DarkroomFiles", "DarkroomCommand", "StoreInspection", "DarkroomTestSupport",
                "ErrorExpectations", "HostileWorker", "FuzzSupport", "ArgumentParsing", "DarkroomConcurrency",
                "DarkroomModel", "DarkroomLists", "DarkroomPhotoServer", "DarkroomText", "WorkerSupport",
            ]),
        .testTarget(
            name: "DarkroomWebTests",
            dependencies: [
                "DarkroomStorage",
                "DarkroomWeb", "DarkroomHTTP", "Darkroom", "DarkroomStore", "DarkroomWorker", "DarkroomModel",
                "DarkroomFiles", "DarkroomCoding", "DarkroomCoordinator", "DarkroomCommand", "DarkroomLogging",
                "DarkroomPhotoServer", "DarkroomConcurrency", "StoreInspection", "DarkroomTestSupport", "FuzzSupport",
                "ErrorExpectations", "WorkerSupport",
            ]),
        .testTarget(
            name: "DarkroomTortureTests",
            dependencies: [
                "DarkroomStorage",
                "Darkroom", "DarkroomStore", "DarkroomWorker", "DarkroomCoding", "DarkroomCommand",
                "DarkroomPhotoServer", "DarkroomConcurrency", "DarkroomTestSupport", "StoreInspection", "FuzzSupport",
                "DarkroomCoordinator", "DarkroomModel", "DarkroomLists", "DarkroomRedis",
            ]),
    ],
]

let package = Package(
    name: "darkroom",
    products: [
        .executable(name: "darkroom", targets: ["DarkroomCommand"]),
        .executable(name: "darkroom-bench", targets: ["DarkroomBench"]),
        .library(name: "Darkroom", targets: ["Darkroom"]),
    ],
    targets: rooms.flatMap { $0 },
    swiftLanguageModes: [.v6]
)
