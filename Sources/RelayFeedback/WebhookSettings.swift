package import RelayCore

/// Where one scope's feedback goes and how it is signed. These values are validated already.
package struct WebhookSettings: Hashable, Sendable {
  /// A secret that the relay shares with the app's server.
  package struct Key: Hashable, Sendable {
    /// Letters, digits and hyphens.
    package var id: String
    package var bytes: [UInt8]

    package init(id: String, bytes: [UInt8]) {
      self.id = id
      self.bytes = bytes
    }
  }

  package var url: String
  /// Each key signs every delivery; the first one's id names it. At least one.
  package var keys: [Key]
  /// A PEM file of the only authorities to trust; nil: those of the system.
  package var trustRoots: String?
  /// Limits one delivery, from the start of connecting to the last byte of the answer.
  package var timeout: Span

  package init(
    url: String, keys: [Key], trustRoots: String? = nil, timeout: Span = .seconds(10)
  ) {
    self.url = url
    self.keys = keys
    self.trustRoots = trustRoots
    self.timeout = timeout
  }
}
