extension String {
  /// Whether both texts have the same bytes, as the relay compares names. Swift's own comparison
  /// takes two texts for one that differ only in how a letter with an accent is written.
  func hasSameBytes(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
