import ZoneRelayTesting

/// The app's database refuses a page.
struct PageRefused: Error {}

extension InMemoryCopy {
  /// The pages with these numbers, counted from 1, are refused.
  func refuse(pages numbers: Int...) async {
    beforePage { [weak self] _ in
      if await numbers.contains(self?.pages.count ?? 0) { throw PageRefused() }
    }
  }

  /// Each page waits at the gate before it is applied.
  func wait(at gate: Gate) { beforePage { _ in await gate.pass() } }
}
