package import RelayCore

/// Where one scope's feedback goes, and how it is signed. Validated before it gets here.
package struct WebhookSettings: Hashable, Sendable {
  /// A secret that the app's server shares.
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
  /// Each signs every delivery; the first names it. One at least.
  package var keys: [Key]
  /// A PEM file of the only authorities to trust; nil: those of the system.
  package var trustRoots: String?
  /// For one delivery, from the first step of connecting to the last byte of the answer.
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
