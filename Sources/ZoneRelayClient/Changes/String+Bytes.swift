extension String {
  /// Whether both texts have the same bytes, as the relay compares names. For Swift's own
  /// comparison two texts are equal also if they differ only in how a letter with an accent is
  /// written.
  func hasSameBytes(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
