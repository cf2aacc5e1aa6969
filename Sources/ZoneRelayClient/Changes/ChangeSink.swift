/// The app's copy of its zones. The client calls one method at a time, in order.
///
/// A crash may repeat the last calls: a page that was applied may come again, so applying it twice
/// must have the same result as once.
public protocol ChangeSink: Sendable {
  /// Applies a page. When the call returns, the result must be durable: the client then stores the
  /// page's token and never asks for the page again.
  func apply(_ page: ZonePage) async throws

  /// Removes a zone that is gone from the user's view.
  func remove(_ zone: ZoneID, _ why: ZoneLoss) async throws

  /// Applies a page of notifications. Apps without query subscriptions need not implement it.
  func apply(_ page: NotificationPage) async throws

  /// Another user signs in or out. The call comes before anything of the new user is fetched, and
  /// the app must set the old user's copy aside before it returns. A crash may repeat the call.
  ///
  /// - Parameters:
  ///   - from: the old user's record name; nil if nobody was signed in.
  ///   - to: the new user's record name; nil if nobody is signed in now.
  func accountChanged(from: String?, to: String?) async throws
}

extension ChangeSink {
  public func apply(_ page: NotificationPage) async throws {}
}
