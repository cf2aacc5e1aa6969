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
    "GRDB": ["RelayStore"],
    "Hummingbird": ["RelayHTTP"],
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

  /// The check of imports would report nothing if it found no import at all.
  @Test func `the import check finds the imports of RelayCore`() throws {
    let seen = Set(
      try SourceTree.swift("Sources/RelayCore").flatMap { Self.imports($0) }.map(\.module))
    #expect(seen.contains("DequeModule"))
  }
}
