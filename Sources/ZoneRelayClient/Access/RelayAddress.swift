public import Foundation

/// Where the relay is, and the app's environment there.
public struct RelayAddress: Hashable, Sendable {
  public enum Environment: String, Hashable, Sendable { case development, production }

  /// The relay's public URL, such as `https://relay.example.com`.
  public var url: URL
  /// The container, such as `iCloud.com.example.notes`.
  public var container: String
  public var environment: Environment
  /// The API token, if the environment lists API tokens.
  public var apiToken: String?

  public init(
    url: URL, container: String, environment: Environment, apiToken: String? = nil
  ) {
    self.url = url
    self.container = container
    self.environment = environment
    self.apiToken = apiToken
  }

  /// The URL of an endpoint: `group` is `device` or `database`.
  func endpoint(_ group: String, _ path: String, installation: UUID?) -> URL {
    let base = url.appendingPathComponent("\(group)/1/\(container)/\(environment.rawValue)/\(path)")
    guard var parts = URLComponents(url: base, resolvingAgainstBaseURL: true) else { return base }
    var items = parts.queryItems ?? []
    if let installation {
      items.append(URLQueryItem(name: "clientId", value: installation.uuidString.lowercased()))
    }
    if let apiToken { items.append(URLQueryItem(name: "ckAPIToken", value: apiToken)) }
    parts.queryItems = items.isEmpty ? nil : items
    // A plus sign in a query would be read as a blank.
    parts.percentEncodedQuery = parts.percentEncodedQuery?
      .replacingOccurrences(of: "+", with: "%2B")
    return parts.url ?? base
  }
}
