package import RelayCore

/// The feed of feedback, as one value.
package struct MemoryFeedback: Sendable {
  package struct Kept: Sendable {
    package var item: FeedbackPage.Item
    package var at: Instant
  }

  private(set) var head = FeedbackPosition.zero
  package private(set) var items: [Kept] = []
  private var floors: [Scope: FeedbackPosition] = [:]
  package var taken: [Scope: FeedbackPosition] = [:]

  mutating func append(_ feedback: [Feedback], at: Instant, limit: Int) {
    for one in feedback where !items.contains(where: { $0.item.feedback.id == one.id }) {
      head = FeedbackPosition(head.number + 1)
      items.append(Kept(item: FeedbackPage.Item(position: head, feedback: one), at: at))
    }
    for scope in Set(feedback.map(\.device.scope)) {
      let own = items.filter { $0.item.feedback.device.scope == scope }
      for oldest in own.dropLast(limit) { remove(oldest.item) }
    }
  }

  private mutating func remove(_ item: FeedbackPage.Item) {
    items.removeAll { $0.item.position == item.position }
    floors[item.feedback.device.scope, default: .zero] = max(
      floors[item.feedback.device.scope] ?? .zero, item.position)
  }

  package mutating func trim(before instant: Instant, limit: Int) -> Int {
    let old = items.prefix(limit).prefix { $0.at < instant }
    for one in old { remove(one.item) }
    return old.count
  }

  package func page(_ query: FeedbackQuery) -> FeedbackPage {
    let found = items.map(\.item).filter {
      query.means($0.feedback.device.scope) && $0.position > query.after
    }
    return FeedbackPage(
      items: Array(found.prefix(query.limit)), hasMore: found.count > query.limit,
      floor: floors.filter { query.means($0.key) }.values.max() ?? .zero, head: head)
  }
}
