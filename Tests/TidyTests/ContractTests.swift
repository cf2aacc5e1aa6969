import Foundation
import Testing

/// docs/openapi.yaml and the code name the same things. SchemathesisTests shows that the daemon
/// behaves as the file says.
@Suite struct ContractTests {
  private static let file = "docs/openapi.yaml"

  @Test func `the OpenAPI file and the code list the same routes`() throws {
    let routes = Set(try Self.routes())
    #expect(routes.count > 15)
    let paths = Set(try Self.paths())
    for route in routes.sorted() {
      #expect(paths.contains(route), "\(Self.file) does not show \(route)")
    }
    for path in paths.sorted() {
      #expect(routes.contains(path), "\(Self.file) shows \(path), which leads nowhere")
    }
  }

  private static func routes() throws -> [String] {
    let endpoint = try Regex(#"case \w+ = "([a-z]+/[A-Za-z]+)""#)
    let text = try SourceTree.text("Sources/RelayHTTP/Answers/RequestRoute.swift")
    let parts = text.components(separatedBy: "enum DatabaseEndpoint")
    let device = "/device/1/{container}/{environment}/"
    let database = "/database/1/{container}/{environment}/{database}/"
    var routes = [
      "/health/live", "/health/ready", "/courier/1/{token}",
      "/events/1/{container}/{environment}",
    ]
    for (part, prefix) in zip(parts, [device, database]) {
      for match in part.matches(of: endpoint) {
        if let name = match.output[1].substring { routes.append(prefix + name) }
      }
    }
    return routes
  }

  private static func paths() throws -> [String] {
    try SourceTree.text(file).split(separator: "\n")
      .filter { $0.hasPrefix("  /") && $0.hasSuffix(":") }
      .map { String($0.dropFirst(2).dropLast()) }
  }

  @Test func `the OpenAPI file and the code list the same error codes`() throws {
    let constant = try Regex(#"case \w+ = "([A-Z_]+)""#)
    let code = try SourceTree.text("Sources/RelayHTTP/Answers/ServerErrorCode.swift")
    let known = Set(
      code.matches(of: constant).compactMap { $0.output[1].substring.map(String.init) })
    #expect(known.count > 8)
    let lines = try SourceTree.text(Self.file).components(separatedBy: "\n")
    let start = try #require(lines.firstIndex { $0 == "    ErrorCode:" })
    let shown = lines[(start + 1)...].prefix { $0.hasPrefix("      ") }
      .filter { $0.hasPrefix("        - ") }.map { String($0.dropFirst(10)) }
    #expect(Set(shown) == known)
  }
}
