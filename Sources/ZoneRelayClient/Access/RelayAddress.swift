public import Foundation

/// Where the relay is, and the app's container and environment there.
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

  /// The first part of an endpoint's path.
  enum Group: String { case device, database }

  func endpoint(_ group: Group, _ path: String, installation: UUID) -> URL {
    let place = "\(group.rawValue)/1/\(container)/\(environment.rawValue)/\(path)"
    let base = url.appendingPathComponent(place)
    guard var parts = URLComponents(url: base, resolvingAgainstBaseURL: true) else { return base }
    var items =
      (parts.queryItems ?? []) + [URLQueryItem(name: "clientId", value: installation.name)]
    if let apiToken { items.append(URLQueryItem(name: "ckAPIToken", value: apiToken)) }
    parts.queryItems = items
    // `URLComponents` leaves a plus sign as it is, and a server reads it as a blank.
    parts.percentEncodedQuery = parts.percentEncodedQuery?
      .replacingOccurrences(of: "+", with: "%2B")
    return parts.url ?? base
  }
}

extension UUID {
  /// The installation's name as the relay writes it.
  var name: String { uuidString.lowercased() }
}
