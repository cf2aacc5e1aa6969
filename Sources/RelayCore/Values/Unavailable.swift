/// Not now; come again.
package struct Unavailable: Error, Hashable, Sendable {
  package enum Cause: String, Hashable, Sendable {
    /// The inbox is full: 429.
    case inboxFull = "inbox_full"
    /// Too many fan-outs run: 503.
    case fanOutsFull = "fan_outs_full"
    /// Too much is on its way to other users: 503.
    case forwardsFull = "forwards_full"
    /// Too many readers wait for a fold: 503.
    case readersFull = "readers_full"
    /// The store has no room: 503.
    case storeFull = "store_full"
    /// The store cannot be written: 503.
    case storeUnwritable = "store_unwritable"
    /// The store takes no request of this size: 413, and repeating it is of no use.
    case requestTooLarge = "request_too_large"
    /// A commit or a fold takes longer than a request may wait: 503. What was asked for may hold.
    case storeSlow = "store_slow"
    /// Recovery is not over yet: 503.
    case recovering = "recovering"
    /// The daemon is stopping or told to drain: 503.
    case draining = "draining"
    /// A read failed: 503.
    case storeUnreadable = "store_unreadable"
  }

  package var cause: Cause
  package var retryAfterSeconds: Int

  package init(_ cause: Cause, retryAfterSeconds: Int) {
    self.cause = cause
    self.retryAfterSeconds = retryAfterSeconds
  }
}
