package import RelayCore

/// Where one scope's feedback goes and how it is signed. These values are validated already.
package struct WebhookSettings: Hashable, Sendable {
  /// A secret that the relay shares with the app's server.
  package struct Key: Hashable, Sendable {
    /// The key's id, of letters, digits and hyphens.
    package var id: String
    package var bytes: [UInt8]

    package init(id: String, bytes: [UInt8]) {
      self.id = id
      self.bytes = bytes
    }
  }

  package var url: String
  /// The keys, at least one. Each key signs every delivery, and the first key's id is part of the
  /// delivery's id.
  package var keys: [Key]
  /// A PEM file with the only authorities to trust. `nil` means the system's authorities.
  package var trustRoots: String?
  /// The longest time of one delivery, from the start of connecting to the last byte of the answer.
  package var timeout: Span

  package init(
    url: String, keys: [Key], trustRoots: String? = nil, timeout: Span = .seconds(10)
  ) {
    (self.url, self.keys, self.trustRoots, self.timeout) = (url, keys, trustRoots, timeout)
  }
}
