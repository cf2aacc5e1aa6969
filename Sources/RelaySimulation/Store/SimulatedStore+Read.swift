import RelayCore
import RelayMemory

extension SimulatedStore {
  /// Reads one page and checks entitlement in the same snapshot.
  func page(_ query: PageQuery) -> PageAnswer {
    switch mutant {
    case .asksNoGrant:
      var query = query
      if case .zone(let zone) = query.feed.kind { query.reader = zone.owner }
      return world.page(query)
    case .showsEveryDeletion: return withEveryDeletion(query)
    case .endsPagesEarly:
      let answer = world.page(query)
      guard case .page(var page) = answer else { return answer }
      page.hasMore = false
      page.next = world.head(of: query.feed)
      return .page(page)
    default: return world.page(query)
    }
  }

  private func withEveryDeletion(_ query: PageQuery) -> PageAnswer {
    let entries = world.feeds[query.feed]?.rows ?? [:]
    var bent = world
    for (subject, row) in entries where !row.entry.life.isPresent {
      var entry = row.entry
      (entry.life.born, entry.life.died, entry.life.reborn) = (.zero, .zero, .zero)
      bent.feeds[query.feed]?.rows[subject]?.entry = entry
    }
    let answer = bent.page(query)
    guard case .page(var page) = answer else { return answer }
    page.entries = page.entries.compactMap { entries[$0.subject]?.entry }
    return .page(page)
  }
}
