/// Changes for one device that follow one another: an import, somebody who types.
///
/// ```
/// change ── < silence ── change ── < silence ── change ── silence ─▶ it is over
/// first                                         last
/// ```
package struct Burst: Hashable, Sendable {
  /// After so long without a change it is over. Shorter, and pauses of people cost a wake each;
  /// longer, and changes that come one by one are taken for bursts.
  package static let silence = Span.minutes(4)

  private var first = Instant.zero
  private var last = Instant.zero

  package init() {}

  /// A change has come; legal in any order of calls, as long as `now` does not go back.
  mutating func goOn(at now: Instant) {
    if silentAt < now { first = now }
    last = now
  }

  /// More than one has come. Those of one moment, as a request reports them, are one.
  var isMany: Bool { first < last }

  /// When it will be over, if nothing comes.
  var silentAt: Instant { last + Self.silence }
}
