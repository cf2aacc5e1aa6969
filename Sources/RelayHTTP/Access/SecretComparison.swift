/// Compares secrets in a time that does not depend on where they differ.
enum SecretComparison {
  static func isEqual(_ left: String, _ right: String) -> Bool {
    isEqual(Array(left.utf8), Array(right.utf8))
  }

  static func isEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    left.count == right.count && zip(left, right).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }

  /// True if `candidate` is one of the secrets. Compares `candidate` with every secret, so that the
  /// time does not depend on which secret matches.
  static func isAmong(_ secrets: [String], _ candidate: String) -> Bool {
    secrets.reduce(false) { isEqual($1, candidate) || $0 }
  }
}
