/// Why a request is refused now; the caller may retry later.
package enum Unavailable: String, Error {
  /// The inbox is full. The HTTP status is 429.
  case inboxFull = "inbox_full"
  /// Too many fan-outs run. The HTTP status is 503.
  case fanOutsFull = "fan_outs_full"
  /// Too many messages are on their way to other partitions. The HTTP status is 503.
  case forwardsFull = "forwards_full"
  /// Too many readers wait for a fold. The HTTP status is 503.
  case readersFull = "readers_full"
  /// The store has no room. The HTTP status is 503.
  case storeFull = "store_full"
  /// The store cannot be written. The HTTP status is 503.
  case storeUnwritable = "store_unwritable"
  /// The store can never accept a request of this size, so a retry is useless. The HTTP status is
  /// 413.
  case requestTooLarge = "request_too_large"
  /// A commit or a fold takes longer than a request may wait. The request may still succeed. The
  /// HTTP status is 503.
  case storeSlow = "store_slow"
  /// Recovery has not ended yet. The HTTP status is 503.
  case recovering = "recovering"
  /// The daemon stops or was told to drain. The HTTP status is 503.
  case draining = "draining"
  /// A read failed. The HTTP status is 503.
  case storeUnreadable = "store_unreadable"

  /// When the caller may retry. A bound on waiting callers has room again soon, and a recovery
  /// takes seconds; the other causes last longer.
  package var retryAfterSeconds: Int {
    switch self {
    case .inboxFull, .readersFull, .recovering: 1
    case .fanOutsFull, .forwardsFull, .storeFull, .storeUnwritable, .requestTooLarge, .storeSlow,
      .draining, .storeUnreadable:
      5
    }
  }
}
