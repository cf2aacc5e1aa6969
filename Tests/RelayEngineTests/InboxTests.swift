import RelayCore
import Testing

@testable import RelayEngine

@Suite struct InboxTests {
  private func submission(_ count: Int) -> Inbox.Submission {
    Inbox.Submission(
      facts: Array(repeating: .expireTokens(TokenExpiry()), count: count), answer: { _ in })
  }

  /// Nothing is taken before recovery is over.
  @Test func itIsClosedAtFirst() {
    #expect(Inbox(factsMax: 10).offer(submission(1))?.cause == .recovering)
  }

  /// Beyond its bound it answers at once, and takes again what is released.
  @Test func itIsBoundedAndSaysSo() {
    let inbox = Inbox(factsMax: 10)
    inbox.begin()
    #expect(inbox.offer(submission(8)) == nil)
    #expect(inbox.offer(submission(3))?.cause == .inboxFull)
    #expect(inbox.offer(submission(2)) == nil)
    inbox.release(8)
    #expect(inbox.offer(submission(3)) == nil)
  }

  /// A submission larger than the bound is taken when nothing else is there: a limit never means
  /// that something can never be taken (L25).
  @Test func aLargeSubmissionIsTakenAlone() {
    let inbox = Inbox(factsMax: 10)
    inbox.begin()
    #expect(inbox.offer(submission(50)) == nil)
    #expect(inbox.offer(submission(1))?.cause == .inboxFull)
  }

  /// Completions have a reserved place: a full inbox takes them.
  @Test func completionsAreNeverRefused() async {
    let inbox = Inbox(factsMax: 1)
    inbox.begin()
    _ = inbox.offer(submission(1))
    for _ in 0..<100 { inbox.post(.timer) }
    let batch = await inbox.take()
    #expect(batch.events.count == 100)
    #expect(batch.submissions.count == 1)
  }

  /// Draining is for good; fullness is not.
  @Test func drainingOutlastsFullness() {
    let inbox = Inbox(factsMax: 10)
    inbox.drain()
    inbox.begin()
    inbox.refuseUnlessDraining(nil)
    #expect(inbox.offer(submission(1))?.cause == .draining)
  }
}
