/// Changes for one device in quick succession, as from an import or a person who types.
///
/// ```
/// change ── < silence ── change ── < silence ── change ── silence ─▶ the burst is over
/// first                                         last
/// ```
package struct Burst: Hashable, Sendable {
  /// A burst is over after this long without a change. A shorter time would spend a wake on each
  /// pause of a person who types; a longer time would treat single changes as a burst.
  package static let silence = Span.minutes(4)

  private var first = Instant.zero
  private var last = Instant.zero

  package init() {}

  /// A change has arrived. `now` is never earlier than in the previous call.
  mutating func goOn(at now: Instant) {
    if silentAt < now { first = now }
    last = now
  }

  /// Whether the burst has more than one change. Changes at the same instant, as one request
  /// reports them, count as one.
  var isMany: Bool { first < last }

  /// When the burst will be over, if no change follows.
  var silentAt: Instant { last + Self.silence }
}
