internal import Foundation

/// Where the relay's courier holds this installation's wakes, and which stream reads there.
struct CourierAddress {
  /// How the app has registered; needed to renew the courier's address.
  private(set) var push: PushAddress?
  private(set) var url: URL?
  private var reader: UInt64 = 0
  /// The number of the newest wake whose round has ended well, or that is stored and acknowledged
  /// for later; 0 if this process has handled none of the present user.
  var handledWake: UInt32 = 0

  /// - Returns: false if the text is no URL.
  mutating func registered(_ push: PushAddress, _ text: String) -> Bool {
    guard let url = URL(string: text) else { return false }
    (self.push, self.url) = (push, url)
    return true
  }

  /// The relay does not know the URL any more.
  mutating func lapsed(_ lapsed: URL) {
    if url == lapsed { url = nil }
  }

  /// The user has signed out.
  mutating func forget() { (push, url) = (nil, nil) }

  /// The newest stream takes over, because the relay keeps one connection a device.
  mutating func newReader() -> UInt64 {
    reader += 1
    return reader
  }

  func isNewest(_ number: UInt64) -> Bool { reader == number }
}
