// swift-tools-version: 6.0
import PackageDescription

/// A C library that Debian ships, found by pkg-config and installed by `deploy/dependencies`.
func debian(_ name: String, pkgConfig: String, package: String) -> Target {
    .systemLibrary(name: name, path: "Sources/\(name)", pkgConfig: pkgConfig, providers: [.apt([package])])
}

let package = Package(
    name: "darkroom",
    products: [
        .executable(name: "darkroom", targets: ["DarkroomCommand"]),
        .library(name: "Darkroom", targets: ["Darkroom"]),
    ],
    targets: [
        // C libraries: module maps and shims, nothing else.
        debian("CHiredis", pkgConfig: "hiredis", package: "libhiredis-dev"),
        debian("CCurl", pkgConfig: "libcurl", package: "libcurl4-openssl-dev"),
        debian("CVips", pkgConfig: "vips", package: "libvips-dev"),
        debian("CJPEG", pkgConfig: "libjpeg", package: "libjpeg-dev"),
        debian("CZlib", pkgConfig: "zlib", package: "zlib1g-dev"),
        debian("CCrypto", pkgConfig: "libcrypto", package: "libssl-dev"),
        debian("CMicrohttpd", pkgConfig: "libmicrohttpd", package: "libmicrohttpd-dev"),
        .target(name: "CSystem"),
        .target(name: "CImaging", dependencies: ["CVips", "CJPEG"]),

        // Wrappers: each knows its C library and nothing of photos lists or queues.
        .target(name: "DarkroomConcurrency", dependencies: ["CSystem"]),
        .target(name: "DarkroomCoding", dependencies: ["CZlib", "CCrypto"]),
        .target(
            name: "DarkroomRedis", dependencies: ["CHiredis", "CCurl", "CCrypto", "CSystem", "DarkroomConcurrency"]),
        .target(name: "DarkroomTransfer", dependencies: ["CCurl", "DarkroomConcurrency"]),
        .target(name: "DarkroomImaging", dependencies: ["CImaging"]),
        .target(name: "DarkroomPhotoServer", dependencies: ["CMicrohttpd", "DarkroomConcurrency"]),

        // Darkroom itself.
        .target(name: "DarkroomModel"),
        .target(name: "DarkroomLogging", dependencies: ["DarkroomModel", "DarkroomConcurrency"]),
        .target(
            name: "DarkroomStore",
            dependencies: ["DarkroomModel", "DarkroomRedis", "DarkroomCoding"],
            resources: [.embedInCode("Scripts")]),
        .target(
            name: "DarkroomCoordinator",
            dependencies: ["DarkroomStore", "DarkroomTransfer", "DarkroomCoding", "DarkroomConcurrency"]),
        .target(
            name: "DarkroomWorker",
            dependencies: [
                "DarkroomStore", "DarkroomTransfer", "DarkroomImaging", "DarkroomCoding", "DarkroomConcurrency",
                "DarkroomLogging", "CSystem",
            ]),
        .target(
            name: "Darkroom",
            dependencies: ["DarkroomCoordinator", "DarkroomWorker", "DarkroomLogging", "DarkroomConcurrency"]),
        .target(name: "ArgumentParsing"),
        .executableTarget(
            name: "DarkroomCommand",
            dependencies: [
                "Darkroom", "DarkroomLogging", "DarkroomPhotoServer", "DarkroomConcurrency", "ArgumentParsing",
                "CSystem",
            ]),

        // Programs that use the library.
        .executableTarget(name: "SteerBatch", dependencies: ["Darkroom"], path: "Sources/Examples/SteerBatch"),
        .executableTarget(name: "OwnOperation", dependencies: ["Darkroom"], path: "Sources/Examples/OwnOperation"),

        // Tests.
        .target(
            name: "DarkroomTestSupport",
            dependencies: ["DarkroomRedis", "DarkroomPhotoServer", "DarkroomConcurrency", "CSystem"],
            path: "Tests/DarkroomTestSupport"),
        .target(name: "FuzzSupport", path: "Tests/FuzzSupport"),
        .executableTarget(name: "HostileWorker", dependencies: ["Darkroom"], path: "Tests/HostileWorker"),
        .testTarget(name: "ArgumentParsingTests", dependencies: ["ArgumentParsing"]),
        .testTarget(name: "DarkroomCodingTests", dependencies: ["DarkroomCoding"]),
        .testTarget(name: "DarkroomRedisTests", dependencies: ["DarkroomRedis", "DarkroomTestSupport"]),
        .testTarget(
            name: "DarkroomTransferTests",
            dependencies: ["DarkroomTransfer", "DarkroomPhotoServer", "DarkroomConcurrency", "DarkroomTestSupport"]),
        .testTarget(
            name: "DarkroomImagingTests",
            dependencies: ["DarkroomImaging", "DarkroomConcurrency", "CImaging", "CJPEG", "CZlib", "FuzzSupport"]),
        .testTarget(name: "DarkroomModelTests", dependencies: ["DarkroomModel", "FuzzSupport"]),
        .testTarget(
            name: "DarkroomLoggingTests",
            dependencies: ["DarkroomLogging", "DarkroomConcurrency", "DarkroomTestSupport"]),
        .target(name: "StoreInspection", dependencies: ["DarkroomStore"], path: "Tests/StoreInspection"),
        .testTarget(
            name: "DarkroomStoreTests", dependencies: ["DarkroomStore", "StoreInspection", "DarkroomTestSupport"]),
        .testTarget(name: "DarkroomCoordinatorTests", dependencies: ["DarkroomCoordinator", "DarkroomTestSupport"]),
        .testTarget(
            name: "DarkroomWorkerTests",
            dependencies: [
                "DarkroomWorker", "DarkroomCoordinator", "DarkroomLogging", "DarkroomPhotoServer",
                "DarkroomTestSupport",
            ]),
        .testTarget(
            name: "DarkroomTests",
            dependencies: [
                "Darkroom", "DarkroomConcurrency", "DarkroomTestSupport", "SteerBatch", "OwnOperation",
            ]),
        .testTarget(
            name: "DarkroomCommandTests",
            dependencies: ["Darkroom", "DarkroomLogging", "DarkroomCommand", "DarkroomTestSupport", "HostileWorker"]),
        .testTarget(
            name: "DarkroomTortureTests",
            dependencies: [
                "Darkroom", "DarkroomStore", "DarkroomWorker", "DarkroomCoding", "DarkroomCommand",
                "DarkroomPhotoServer", "DarkroomConcurrency", "DarkroomTestSupport", "StoreInspection", "FuzzSupport",
            ]),
    ],
    swiftLanguageModes: [.v6]
)
