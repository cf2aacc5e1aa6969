@testable import RelayCore
import Testing

/// Pages at the ends of a feed's history: below the floor, beyond the head, and in an era that the
/// store does not know (P2, P10).
@Suite struct PageTests {
  private let eras = Eras([Era(id: 7, first: Ordinal(1)), Era(id: 9, first: Ordinal(100))])

  private func entry(_ name: String, _ ordinal: UInt64, gone: Bool = false) -> Entry {
    let position = Sample.position(ordinal)
    let life = Life(position: position, state: gone ? .deleted : .present, time: .zero)
    return Entry(subject: .record(name), life: life, detail: .record(type: "T", tag: nil))
  }

  private func place(_ ordinal: UInt64, era: UInt64 = 7, scanHead: UInt64? = nil) -> FeedCursor {
    FeedCursor(
      era: era, position: Sample.position(ordinal), scanHead: scanHead.map { Sample.position($0) })
  }

  private func read(_ feed: FeedState, _ place: FeedCursor?, floor: UInt64 = 0, limit: Int = 2)
    -> PageAnswer
  {
    Page.read(
      [entry("a", 20), entry("b", 30, gone: true), entry("c", 40)], of: feed, eras: eras,
      after: place, limit: limit, floor: Sample.position(floor))
  }

  private func lost(_ since: UInt64) -> PageAnswer {
    .expired(.lostHistory(since: Sample.position(since)))
  }

  private let feed = FeedState(head: Sample.position(40), floor: Sample.position(10))

  /// A token may belong to a history that the relay has lost. Another history replaced that
  /// history. The new history begins with the life of the relay after the token's life, or with the
  /// token's life if that is the relay's last. If the relay does not know the token's life, the new
  /// history begins with the known life that holds the token's ordinal.
  @Test func `a lost history is replaced from the life that followed it`() {
    let eras = Eras([Era(id: 1, first: Ordinal(1)), Era(id: 2, first: Ordinal(5))])
    func beginning(_ era: UInt64, _ ordinal: UInt64) -> Position {
      eras.beginning(insteadOf: FeedCursor(era: era, position: Sample.position(ordinal)))
    }
    #expect(beginning(1, 7) == Sample.position(5))
    #expect(beginning(2, 9) == Sample.position(5), "the last life")
    #expect(beginning(9, 3) == Sample.position(1), "an unknown life")
  }

  @Test func `a token below the floor is expired and a token at the floor is valid`() {
    #expect(read(feed, place(9)) == .expired(.trimmed))
    guard case .page(let page) = read(feed, place(10)) else {
      Issue.record("a token at the floor reads")
      return
    }
    #expect(page.entries.map(\.subject) == [.record("a"), .record("b")])
    #expect(page.hasMore)
    #expect(page.next.base == Sample.position(10))
    #expect(page.since == Sample.position(10))
  }

  @Test func `a caught-up token gets an empty page and stays the same`() {
    guard case .page(let page) = read(feed, place(40)) else {
      Issue.record("a token at the head reads")
      return
    }
    #expect(page == Page(entries: [], next: place(40), hasMore: false, since: Sample.position(40)))
  }

  /// A reader with the token of an empty feed gets later deletions. A reader without a token does
  /// not.
  @Test func `a reader with an empty feed's token sees later deletions`() {
    guard case .page(let empty) = Page.read([], of: FeedState(), eras: eras, after: nil, limit: 2)
    else {
      Issue.record("an empty feed reads")
      return
    }
    let born = Life(
      position: Sample.position(35), state: .deleted, born: Sample.position(34), time: .zero)
    let entries = [
      entry("b", 30, gone: true),
      Entry(subject: .record("x"), life: born, detail: .record(type: "T", tag: nil)),
    ]
    let now = FeedState(head: Sample.position(35))
    let read = { (place: FeedCursor?, limit: Int) in
      Page.read(entries, of: now, eras: eras, after: place, limit: limit)
    }
    for (place, shown) in [(empty.next, ["b"]), (nil, [])] as [(FeedCursor?, [String])] {
      guard case .page(let page) = read(place, 1) else {
        Issue.record("a token of an empty feed reads")
        continue
      }
      #expect(page.entries.map(\.subject) == shown.map { .record($0) })
      #expect(!page.hasMore)
    }
  }

  @Test func `a token ahead of the feed is answered as lost history`() {
    #expect(read(feed, place(41)) == lost(100))
  }

  @Test func `a token of an unknown era is answered as lost history`() {
    #expect(read(feed, place(20, era: 8)) == lost(1))
  }

  @Test func `a position past its era's end is answered as lost history`() {
    let later = FeedState(head: Sample.position(120))
    #expect(read(later, place(100, era: 7)) == lost(100))
    #expect(read(later, place(99, era: 7, scanHead: 100)) == lost(100))
    guard case .page = read(later, place(99, era: 7)), case .page = read(later, place(110, era: 9))
    else {
      Issue.record("places within their lives read")
      return
    }
  }

  /// The copy was taken at ordinal 99, in life 7, and restored as life 9; a restart began life 11.
  /// A lost token raises the floor. Tokens from before the copy then expire, and tokens given since
  /// the restore stay valid.
  @Test func `the era after a restore begins above all positions of the copy`() {
    let eras = Eras([(7, 1), (9, 100), (11, 130)].map { Era(id: $0, first: Ordinal($1)) })
    let feed = FeedState(head: Sample.position(140))
    func since(_ place: FeedCursor) -> PageAnswer {
      Page.read([], of: feed, eras: eras, after: place, limit: 2)
    }
    // Life 7 went on after the copy was taken, and gave the token.
    for place in [place(100), place(135), place(99, scanHead: 150)] {
      #expect(since(place) == lost(100))
    }
    // Life 8, which this store does not know, gave the token.
    for ordinal in [100, 129] as [UInt64] { #expect(since(place(ordinal, era: 8)) == lost(100)) }
    // Or life 8 began only after the restart, and a second restore removed life 8.
    for ordinal in [130, 150] as [UInt64] { #expect(since(place(ordinal, era: 8)) == lost(130)) }
    let raised = FeedState(head: Sample.position(140), floor: Sample.position(100))
    let copied = FeedCursor(era: 7, position: Position(bits: Sample.position(100).bits - 1))
    let answer = Page.read([], of: raised, eras: eras, after: copied, limit: 2)
    #expect(answer == .expired(.trimmed))
    guard
      case .page = Page.read([], of: raised, eras: eras, after: place(100, era: 9), limit: 2)
    else {
      Issue.record("a token of the life that the restore began reads on")
      return
    }
  }

  /// Seed 3: earlier, every scan in pages across a restart expired at its second page, for ever.
  @Test func `a scan that starts at positions of an earlier era reads on`() {
    let later = FeedState(head: Sample.position(120))
    guard case .page(let first) = read(later, nil, limit: 1),
      case .page(let second) = read(later, first.next)
    else {
      Issue.record("a scan across two lives reads on")
      return
    }
    #expect(first.hasMore && first.next.position == Sample.position(20))
    #expect(first.next.era == 9 && !second.hasMore)
  }

  /// Seed 13209: earlier, a page left out a record that had moved ahead in the feed. A restored
  /// copy moved the record back, and the client never got the record.
  @Test func `a token between pages is lost if its page saw lost history`() {
    guard case .page(let first) = read(feed, place(10), limit: 1) else {
      Issue.record("a token at the floor reads")
      return
    }
    #expect(first.next.seen == feed.head)
    let restored = FeedState(head: Sample.position(30), floor: Sample.position(10))
    #expect(read(restored, first.next) == lost(100))
    let forked = Eras([Era(id: 7, first: Ordinal(1)), Era(id: 9, first: Ordinal(35))])
    #expect(!forked.contain(first.next))
  }

  @Test func `a scan expires only if the floor passes its head`() {
    let raised = FeedState(head: Sample.position(40), floor: Sample.position(35))
    #expect(read(raised, place(20, scanHead: 34)) == .expired(.trimmed))
    guard case .page(let page) = read(raised, place(20, scanHead: 35)) else {
      Issue.record("a scan whose head is at the floor reads on")
      return
    }
    #expect(page.entries.map(\.subject) == [.record("c")])
  }

  /// Seed 39: earlier, a deletion was trimmed between the pages of a catch-up, and the client kept
  /// the record for ever.
  @Test func `a catch-up expires when the floor passes the position it reached`() {
    let raised = FeedState(head: Sample.position(40), floor: Sample.position(30))
    let between = FeedCursor(
      era: 7, position: Sample.position(20), scanHead: Sample.position(40),
      base: Sample.position(10))
    #expect(read(raised, between) == .expired(.trimmed))
  }

  /// Seed 970: earlier, a trim removed a notification, which was then created again and deleted. A
  /// client that held the notification did not get the deletion and kept the notification for ever.
  @Test func `a notification's deletion is shown after its feed was trimmed`() {
    let subject = Subject.notification(SubscriptionID("s"), zone: Sample.zone, record: "r")
    func mutation(_ verb: FeedMutation.Verb, _ ordinal: UInt64) -> FeedMutation {
      let detail = NotificationDetail(kind: .query, database: .private, notification: Sample.nid(1))
      return FeedMutation(
        verb: verb, position: Sample.position(ordinal), device: nil, time: .zero,
        detail: .notification(detail))
    }
    for floor in [Position.zero, Sample.position(10)] {
      let created = Fold.fold(nil, Delta(mutation(.created, 20)), subject: subject, floor: floor)
      #expect(NotificationDetail.reason(created.life, at: Sample.position(15)) == .created)
      let gone = Fold.fold(created, Delta(mutation(.deleted, 30)), subject: subject, floor: floor)
      #expect(gone.life.isHidden(from: Sample.position(15), scanHead: nil) == (floor == .zero))
      #expect(gone.life.isHidden(from: .zero, scanHead: nil))
    }
  }

  @Test func `a cleared feed shows nothing and its tokens expire`() {
    let cleared = FeedState(
      head: Sample.position(40), floor: Sample.position(50), cleared: Sample.position(50))
    #expect(read(cleared, place(40)) == .expired(.trimmed))
    guard case .page(let page) = read(cleared, nil) else {
      Issue.record("a cleared feed reads from the start")
      return
    }
    #expect(page.entries.isEmpty)
    #expect(page.next == place(50))
    #expect(
      read(cleared, page.next)
        == .page(
          Page(
            entries: [], next: place(50), hasMore: false, since: Sample.position(50))))
  }

  /// A second grant may raise a reader's floor above the feed's head. The reader can start anew.
  @Test func `a reader with a floor above the head starts from the beginning once`() {
    #expect(read(feed, place(40), floor: 60) == .expired(.trimmed))
    guard case .page(let first) = read(feed, nil, floor: 60),
      case .page(let last) = read(feed, first.next, floor: 60)
    else {
      Issue.record("a regranted reader reads from the start")
      return
    }
    #expect(!first.hasMore && !last.hasMore)
    #expect(first.entries.count == 2)
    #expect(last.entries.isEmpty)
    #expect(last.next == first.next)
  }

  @Test func `a token names the era in which its position was given`() {
    #expect(eras.of(Ordinal(99))?.id == 7)
    #expect(eras.of(Ordinal(100))?.id == 9)
    #expect(eras.of(.zero)?.id == 7)
    #expect(Eras([]).of(.zero) == nil)
    #expect(eras.knows(9) && !eras.knows(8))
  }
}
