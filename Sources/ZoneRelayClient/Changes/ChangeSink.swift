/// The app's copy of its zones. The client calls one method at a time.
///
/// A method must not wait for a call of the client: that call waits for its turn, and its turn
/// comes when the method has returned.
///
/// A crash may repeat the last call: a page that was applied may come again. To apply a page twice
/// must have the same result as to apply it once.
public protocol ChangeSink: Sendable {
  /// Applies a page. When the call returns, the result must be durable: the client then stores the
  /// page's token, and the relay does not send the page again.
  func apply(_ page: ZonePage) async throws

  /// Removes a zone that the user does not have any more.
  func remove(_ zone: ZoneID, _ why: ZoneLoss) async throws

  /// Applies a page of notifications. Apps without query subscriptions need not implement it.
  func apply(_ page: NotificationPage) async throws

  /// Another user signs in, or the user signs out. The client calls this before it fetches anything
  /// of the new user. When the call returns, the app must show nothing of the old user's copy. A
  /// crash may repeat the call.
  ///
  /// - Parameters:
  ///   - from: the old user's record name; nil if no user was signed in.
  ///   - to: the new user's record name; nil if no user is signed in now. Equal to `from` if the
  ///     app now names another container or environment, which has other zones.
  func accountChanged(from: String?, to: String?) async throws
}

extension ChangeSink {
  public func apply(_ page: NotificationPage) async throws {}
}
