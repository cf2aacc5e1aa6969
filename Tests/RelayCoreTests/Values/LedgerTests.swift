import RelayCore
import Testing

/// P12: a ledger is the sum of its partitions' ledgers, column by column.
@Suite struct LedgerTests {
  private static let columns: [any WritableKeyPath<Ledger, Int64> & Sendable] = [
    \.matched, \.recovered, \.own, \.merged, \.woken, \.fetched, \.withdrawn, \.retired,
    \.expired, \.pending,
  ]

  /// All columns differ, so that none can stand for another.
  private func ledger(_ unit: Int64) -> Ledger {
    var ledger = Ledger()
    for (index, column) in Self.columns.enumerated() {
      ledger[keyPath: column] = unit * (1 << Int64(index))
    }
    return ledger
  }

  @Test func `the sum of two ledgers adds every column`() {
    #expect(Mirror(reflecting: Ledger()).children.count == Self.columns.count)
    #expect(ledger(3) + ledger(4) == ledger(7))
    #expect(ledger(3) + Ledger() == ledger(3) && Ledger() + ledger(3) == ledger(3))
  }

  @Test func `each column counts in the balance of a ledger`() {
    for column in Self.columns {
      var ledger = Ledger()
      ledger[keyPath: column] = 1
      #expect(!ledger.isBalanced)
    }
    var ledger = Ledger()
    (ledger.matched, ledger.recovered) = (6, 2)
    (ledger.own, ledger.merged, ledger.woken, ledger.fetched) = (1, 1, 1, 1)
    (ledger.withdrawn, ledger.retired, ledger.expired, ledger.pending) = (1, 1, 1, 1)
    #expect(ledger.isBalanced)
  }

  @Test func `a settled delivery moves from pending to its own column`() {
    var ledger = Ledger()
    (ledger.matched, ledger.pending) = (3, 3)
    ledger.settle(2, as: \.fetched)
    #expect(ledger.pending == 1 && ledger.fetched == 2 && ledger.isBalanced)
  }
}
