import Testing

/// Which target may import which module (docs/architecture.md).
@Suite struct ImportTests {
  private static let collections: Set<String> = [
    "DequeModule", "HeapModule", "OrderedCollections",
  ]

  /// The adapters. No adapter imports another adapter.
  private static let adapters: Set<String> = [
    "RelayHTTP", "RelayStore", "RelayPush", "RelayFeedback", "RelaySystem", "RelayKeys",
    "RelayCurl", "RelayStandin",
  ]

  /// Targets with the full list of their allowed imports.
  private static let closed: [String: Set<String>] = [
    "RelayCore": collections,
    "RelayMemory": ["RelayCore"],
    "RelaySimulation": collections.union(["RelayCore", "RelayMemory"]),
    "RelayWire": [],
    "RelayEngine": collections.union([
      "RelayCore", "Logging", "ServiceLifecycle", "Synchronization", "Dispatch",
    ]),
    "zonerelay": ["RelayCommands"],
    // An app that uses the libraries gets nothing else with them.
    "ZoneRelayClient": ["Foundation", "FoundationNetworking"],
    "ZoneRelayTesting": ["Foundation", "ZoneRelayClient"],
  ]

  /// Outside libraries, each with the only targets that may import it.
  private static let homes: [String: Set<String>] = [
    "GRDB": ["RelayStore", "zonerelay-notes"],
    "Hummingbird": ["RelayHTTP", "zonerelay-notes"],
    "CNghttp2": ["RelayPush"],
    "CSystemd": ["RelaySystem"],
    "CCurl": ["RelayCurl", "RelayPush"],
    "Yams": ["RelayCommands"],
    "NIOHTTP2": ["RelayStandin"],
    "X509": ["RelayPush", "RelayStandin"],
  ]

  private static func imports(_ file: SourceFile) -> [(line: Int, module: String)] {
    file.code.enumerated().compactMap { index, line in
      let words = line.split(separator: " ")
      guard let place = words.firstIndex(of: "import"), place + 1 < words.count, place <= 2,
        words[..<place].allSatisfy({ $0.hasPrefix("@") || access.contains(String($0)) })
      else { return nil }
      let named = words[words.index(before: words.endIndex)].split(separator: ".").first
      return named.map { (index, String($0)) }
    }
  }

  private static let access: Set<String> = [
    "public", "package", "internal", "fileprivate", "private",
  ]

  @Test func `each target imports only its allowed modules`() throws {
    var found: [String] = []
    for file in try SourceTree.swift("Sources") {
      for (line, module) in Self.imports(file) {
        if let allowed = Self.closed[file.room], !allowed.contains(module) {
          found.append("\(file.place(line)): \(file.room) must not import \(module)")
        }
        if Self.adapters.contains(file.room), Self.adapters.contains(module) {
          found.append("\(file.place(line)): adapters must not import each other: \(module)")
        }
        if let homes = Self.homes[module], !homes.contains(file.room) {
          found.append("\(file.place(line)): \(module) belongs to \(homes.sorted())")
        }
      }
    }
    #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
  }

  /// An app team copies the sample's phone and has only the client library.
  @Test func `the sample's phone imports Foundation and the client library alone`() throws {
    let folders = ["Sources/zonerelay-notes/Phone", "Sources/zonerelay-notes/Shared"]
    let files = try folders.flatMap { try SourceTree.swift($0) }
    let seen = Set(files.flatMap { Self.imports($0) }.map(\.module))
    #expect(seen == ["Foundation", "ZoneRelayClient"])
  }

  /// An app team that copies the sample has no module of the daemon.
  @Test func `the sample imports no module of the daemon`() throws {
    let seen = Set(
      try SourceTree.swift("Sources/zonerelay-notes").flatMap { Self.imports($0) }.map(\.module))
    #expect(seen.filter { $0.hasPrefix("Relay") }.isEmpty, "\(seen)")
  }

  /// The sample is short enough to be read before it is copied.
  @Test func `the sample has at most eight hundred lines`() throws {
    let lines = try SourceTree.swift("Sources/zonerelay-notes").map { $0.lines.count - 1 }
    #expect(lines.reduce(0, +) <= 800)
  }

  /// The check of imports would report nothing if it found no import at all.
  @Test func `the import check finds the imports of RelayCore`() throws {
    let seen = Set(
      try SourceTree.swift("Sources/RelayCore").flatMap { Self.imports($0) }.map(\.module))
    #expect(seen.contains("DequeModule"))
  }
}
