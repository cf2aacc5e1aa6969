package import RelayCore
import RelayEngine
package import RelayWire

/// Makes the short digest that operators see in place of a push token.
package typealias TokenDigest = @Sendable ([UInt8]) -> String

extension FeedbackReport {
  /// The answer to a reader that asked for items after `position`.
  package init(
    _ page: FeedbackPage, after position: FeedbackPosition, digest: TokenDigest
  ) {
    self.init(
      items: page.items.map { FeedbackItem($0, digest: digest) },
      next: page.next(after: position).number, moreComing: page.hasMore,
      missedThrough: page.missed(after: position))
  }
}

extension FeedbackPage {
  /// The position up to which items were trimmed, if the reader at `position` may have missed some
  /// of these items; nil means that the reader has missed no item.
  func missed(after position: FeedbackPosition) -> UInt64? {
    position < floor ? floor.number : nil
  }
}

extension FeedbackItem {
  init(_ item: FeedbackPage.Item, digest: TokenDigest) {
    let feedback = item.feedback
    let type =
      switch feedback.news {
      case .retired: "retired"
      case .silent: "silent"
      case .returned: "returned"
      }
    self.init(
      position: item.position.number, id: feedback.id.text, type: type,
      at: feedback.at.milliseconds, container: feedback.device.scope.container,
      environment: feedback.device.scope.environment.name, user: feedback.device.user.name,
      clientId: feedback.device.client.text, transport: feedback.address.transport.name,
      topic: feedback.address.topic,
      tokenDigest: feedback.address.token.isEmpty ? "" : digest(feedback.address.token),
      registeredAt: feedback.registeredAt.milliseconds)
    switch feedback.news {
    case .retired(let word, let since):
      reason = word
      providerTime = since?.milliseconds
    case .silent(let since, let count):
      silentSince = since.milliseconds
      wakes = count
    case .returned: break
    }
  }
}
