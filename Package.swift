// swift-tools-version: 6.2
import PackageDescription

/// One strict list for every target: a room that needs an exception has a design fault.
let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

extension Target {
  /// A room: what it may import is what stands here, so the compiler draws the arrows.
  static func room(
    _ name: String, _ rooms: [String] = [], products: [Dependency] = [], path: String? = nil
  ) -> Target {
    .target(
      name: name, dependencies: rooms.map { .target(name: $0) } + products, path: path,
      swiftSettings: strict)
  }

  /// - Parameter exclude: what is no source, and is read where it lies.
  static func tests(
    _ name: String, _ rooms: [String], products: [Dependency] = [], exclude: [String] = []
  ) -> Target {
    .testTarget(
      name: name, dependencies: rooms.map { .target(name: $0) } + products, exclude: exclude,
      swiftSettings: strict)
  }

  static func command(_ name: String, _ rooms: [String], products: [Dependency] = []) -> Target {
    .executableTarget(
      name: name, dependencies: rooms.map { .target(name: $0) } + products, swiftSettings: strict)
  }
}

let collections: [Target.Dependency] = [
  .product(name: "DequeModule", package: "swift-collections"),
  .product(name: "HeapModule", package: "swift-collections"),
  .product(name: "OrderedCollections", package: "swift-collections"),
]
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let lifecycle = Target.Dependency.product(
  name: "ServiceLifecycle", package: "swift-service-lifecycle")
let nio: [Target.Dependency] = [
  .product(name: "NIOCore", package: "swift-nio"),
  .product(name: "NIOPosix", package: "swift-nio"),
]
let tls = Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let rsa = Target.Dependency.product(name: "CryptoExtras", package: "swift-crypto")
let jwt = Target.Dependency.product(name: "JWTKit", package: "jwt-kit")
let x509 = Target.Dependency.product(name: "X509", package: "swift-certificates")
let asn1 = Target.Dependency.product(name: "SwiftASN1", package: "swift-asn1")
let arguments = Target.Dependency.product(
  name: "ArgumentParser", package: "swift-argument-parser")

/// Core and simulation build and test alone: `make core`, or `ZONERELAY_ONLY=core swift test`.
let core: [Target] = [
  .room("RelayCore", products: collections),
  .room("RelayMemory", ["RelayCore"]),
  .room("RelaySimulation", ["RelayMemory", "RelayCore"], products: collections),
  .command("zonerelay-simulate", ["RelaySimulation"]),
  .tests("RelayCoreTests", ["RelayMemory", "RelayCore"]),
  .tests("RelaySimulationTests", ["RelaySimulation", "RelayCore"]),
]

/// The libraries for apps. They depend on nothing, and build alone: `ZONERELAY_ONLY=client`.
let client: [Target] = [
  .room("ZoneRelayClient"),
  .room("ZoneRelayTesting", ["ZoneRelayClient"]),
  .tests("ZoneRelayClientTests", ["ZoneRelayClient", "ZoneRelayTesting"]),
]

let outside: [Target] = [
  .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
  .systemLibrary(name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
  .systemLibrary(name: "CNghttp2", pkgConfig: "libnghttp2", providers: [.apt(["libnghttp2-dev"])]),
]

let rooms: [Target] = [
  .room("RelayWire"),
  .room("RelayEngine", ["RelayCore"], products: collections + [logging, lifecycle]),
  .room("RelayKeys", ["RelayEngine", "RelayCore"], products: [crypto]),
  .room(
    "RelayStore", ["RelayEngine", "RelayCore"],
    products: [
      .product(name: "GRDB", package: "GRDB.swift"),
      .product(name: "GRDBSQLite", package: "GRDB.swift"),
      .product(name: "NIOPosix", package: "swift-nio"), logging,
    ]),
  .room(
    "RelayPush", ["RelayEngine", "RelayCore", "CNghttp2", "CCurl"],
    products: nio + collections + [
      tls, .product(name: "NIOTLS", package: "swift-nio"), crypto, rsa, logging, lifecycle, x509,
      asn1,
    ]),
  .room(
    "RelayHTTP", ["RelayEngine", "RelayCore", "RelayWire"],
    products: nio + collections + [
      .product(name: "Hummingbird", package: "hummingbird"),
      .product(name: "NIOHTTP1", package: "swift-nio"),
      .product(name: "HTTPTypes", package: "swift-http-types"), tls, jwt, crypto, logging,
      lifecycle,
    ]),
  .room(
    "RelayFeedback", ["RelayEngine", "RelayCore", "RelayWire"],
    products: [crypto, logging, lifecycle]),
  .room("RelayTrace", ["RelayEngine", "RelayCore"], products: [logging]),
  .room("RelaySystem", ["RelayEngine", "RelayCore", "CSystemd"], products: [logging, lifecycle]),
  .room("RelayCurl", ["RelayWire", "CCurl"]),
  .room(
    "RelayStandin",
    products: nio + [
      tls, crypto, rsa, .product(name: "NIOHTTP2", package: "swift-nio-http2"),
      .product(name: "NIOHPACK", package: "swift-nio-http2"),
      .product(name: "NIOHTTP1", package: "swift-nio"),
      x509, asn1,
    ]),
  .room(
    "RelayCommands",
    [
      "RelayCore", "RelayWire", "RelayEngine", "RelayKeys", "RelayStore", "RelayPush", "RelayHTTP",
      "RelayFeedback", "RelaySystem", "RelayTrace", "RelayCurl", "RelayStandin", "ZoneRelayClient",
    ],
    products: nio + [
      arguments, logging, lifecycle, crypto, jwt, .product(name: "Yams", package: "Yams"),
      .product(name: "UnixSignals", package: "swift-service-lifecycle"),
    ]),
  .command("zonerelay", ["RelayCommands"]),
  // A sample for app teams: it uses the client library, and none of the rooms.
  .command(
    "zonerelay-notes", ["ZoneRelayClient"],
    products: [
      .product(name: "GRDB", package: "GRDB.swift"),
      .product(name: "Hummingbird", package: "hummingbird"),
      .product(name: "HTTPTypes", package: "swift-http-types"),
      .product(name: "UnixSignals", package: "swift-service-lifecycle"), jwt,
    ]),
  .command(
    "zonerelay-bench",
    [
      "RelayCore", "RelayEngine", "RelayPush", "RelayStore", "RelaySystem", "RelayTrace", "RelayWire",
    ],
    products: nio + [
      arguments, logging, crypto, .product(name: "GRDBSQLite", package: "GRDB.swift"),
    ]),
]

let roomTests: [Target] = [
  // A store in memory, for tests of rooms. The product does not link it.
  .room(
    "RelayMemoryStore", ["RelayEngine", "RelayMemory", "RelayCore"],
    path: "Tests/RelayMemoryStore"),
  .tests(
    "RelayEngineTests", ["RelayEngine", "RelayCore", "RelayMemory", "RelayMemoryStore"],
    products: [logging]),
  .tests("RelayKeysTests", ["RelayKeys", "RelayEngine", "RelayCore"]),
  .tests(
    "RelayStoreTests",
    ["RelayStore", "RelayMemoryStore", "RelayEngine", "RelayMemory", "RelayCore"],
    products: [.product(name: "GRDB", package: "GRDB.swift"), logging], exclude: ["Form1"]),
  .tests(
    "RelayPushTests", ["RelayPush", "RelayEngine", "RelayCore", "RelayStandin", "CCurl"],
    products: nio + [tls, logging, jwt, crypto, rsa, x509, asn1]),
  .tests(
    "RelayHTTPTests", ["RelayHTTP", "RelayEngine", "RelayMemory", "RelayCore", "RelayWire"],
    products: nio + [
      .product(name: "NIOHTTP1", package: "swift-nio"),
      .product(name: "Hummingbird", package: "hummingbird"),
      .product(name: "HummingbirdTesting", package: "hummingbird"),
      .product(name: "HTTPTypes", package: "swift-http-types"), jwt, logging, crypto, rsa,
    ]),
  .tests(
    "RelayFeedbackTests",
    ["RelayFeedback", "RelayMemoryStore", "RelayMemory", "RelayEngine", "RelayCore", "RelayWire"],
    products: [logging, crypto]),
  .tests(
    "RelayTraceTests", ["RelayTrace", "RelayEngine", "RelayMemory", "RelayCore"],
    products: [logging]),
  .tests("RelaySystemTests", ["RelaySystem", "RelayEngine", "RelayCore"], products: [logging]),
  .tests(
    "RelayCurlTests", ["RelayCurl"],
    products: nio + [.product(name: "NIOHTTP1", package: "swift-nio")]),
  .tests(
    "RelayStandinTests", ["RelayStandin"],
    products: nio + [
      tls, crypto, .product(name: "NIOHTTP1", package: "swift-nio"),
      .product(name: "NIOHTTP2", package: "swift-nio-http2"),
      .product(name: "NIOHPACK", package: "swift-nio-http2"),
    ]),
  .tests(
    "RelayCommandsTests",
    [
      "RelayCommands", "RelayCore", "RelayWire", "RelayEngine", "RelayPush", "RelayCurl",
      "RelaySystem", "RelayHTTP", "RelayKeys",
    ], products: [crypto, logging]),
  .tests(
    "EndToEndTests",
    [
      "RelayCurl", "RelayWire", "RelayStore", "RelayEngine", "RelayCore", "ZoneRelayClient",
      "ZoneRelayTesting",
    ],
    products: nio + [
      crypto, jwt, .product(name: "NIOHTTP1", package: "swift-nio"),
      .product(name: "GRDB", package: "GRDB.swift"),
    ],
    exclude: ["Fixtures"]),
  .tests(
    "NotesTests", ["zonerelay-notes", "ZoneRelayClient", "ZoneRelayTesting"],
    products: [
      jwt,
      .product(name: "GRDB", package: "GRDB.swift"),
      .product(name: "Hummingbird", package: "hummingbird"),
      .product(name: "HummingbirdTesting", package: "hummingbird"),
      .product(name: "HTTPTypes", package: "swift-http-types"),
    ]),
  .tests("TidyTests", [], exclude: ["Words.txt"]),
]

let fuzzed: [Target.Dependency] =
  [
    "RelayCommands", "RelayHTTP", "RelayPush", "RelayStore", "RelayEngine", "RelayCore",
    "RelayWire",
  ].map { .target(name: $0) } + [
    .product(name: "HTTPTypes", package: "swift-http-types"),
    .product(name: "Hummingbird", package: "hummingbird"),
    .product(name: "NIOCore", package: "swift-nio"),
    .product(name: "NIOEmbedded", package: "swift-nio"),
    .product(name: "NIOHTTP1", package: "swift-nio"),
    logging, crypto,
  ]

/// The parsers that any bytes may reach: a test of a few seconds each, or with `ZONERELAY_FUZZ` a
/// program for libFuzzer (`make fuzz`).
let fuzzing: Target =
  Context.environment["ZONERELAY_FUZZ"] == nil
  ? .testTarget(
    name: "FuzzTests", dependencies: fuzzed, exclude: ["Corpus", "Driver"], swiftSettings: strict)
  : .executableTarget(
    name: "zonerelay-fuzz", dependencies: fuzzed, path: "Tests/FuzzTests",
    exclude: ["Corpus", "ParserFuzzTests.swift", "FuzzRun.swift", "Mutator.swift"],
    swiftSettings: strict + [.define("FUZZING")])

/// `ZONERELAY_ONLY=core` or `client`, or names of targets: these and what they need, so that one
/// room builds and tests while another is being rebuilt.
func selected(_ all: [Target], alone: [String: [Target]]) -> [Target] {
  guard let only = Context.environment["ZONERELAY_ONLY"] else { return all }
  if let room = alone[only] { return room }
  var names = Set(only.split(separator: ",").map(String.init))
  var before = 0
  while names.count > before {
    before = names.count
    for target in all where names.contains(target.name) {
      for case .targetItem(let name, _) in target.dependencies { names.insert(name) }
    }
  }
  return all.filter { names.contains($0.name) }
}

let targets = selected(
  core + client + outside + rooms + roomTests + [fuzzing],
  alone: ["core": core, "client": client])

let package = Package(
  name: "zonerelay",
  platforms: [.macOS(.v15), .iOS(.v16), .watchOS(.v9), .tvOS(.v16), .visionOS(.v1)],
  products: ["ZoneRelayClient", "ZoneRelayTesting"].compactMap { name in
    targets.contains { $0.name == name } ? .library(name: name, targets: [name]) : nil
  },
  dependencies: [
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
    .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
  ],
  targets: targets
)
