internal import Foundation

/// Where the relay's courier holds this installation's wakes, and which stream reads there.
struct CourierAddress {
  /// How the app has registered; needed to renew the courier's address.
  var push: PushAddress?
  var url: URL?
  /// The number of the newest stream. Older streams end, because the relay keeps one connection for
  /// each device.
  var reader: UInt64 = 0
  /// The number of the newest wake whose round has ended well, or that is stored and acknowledged
  /// for later; 0 if this process has handled none of the present user.
  var handledWake: UInt32 = 0
}
