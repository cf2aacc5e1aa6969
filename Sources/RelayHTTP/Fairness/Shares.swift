/// Counts how much of a limit is taken, in total and by each caller, so that one caller cannot take
/// more than its share.
///
/// The table keeps no entry for a caller that has given everything back, so its memory stays small.
struct Shares<Key: Hashable & Sendable>: Sendable {
  enum Answer: Hashable { case taken, callerHasItsShare, full }

  let most: Int
  private(set) var all = 0
  private var ofEach: [Key: Int] = [:]

  init(most: Int) { self.most = most }

  /// Takes the whole amount and answers `taken`, or takes nothing.
  ///
  /// - Parameter share: the most that this caller may have, including what it has already.
  mutating func take(_ amount: Int = 1, for key: Key, share: Int) -> Answer {
    let own = ofEach[key] ?? 0
    guard own + amount <= share else { return .callerHasItsShare }
    guard all + amount <= most else { return .full }
    all += amount
    ofEach[key] = own + amount
    return .taken
  }

  func taken(by key: Key) -> Int { ofEach[key] ?? 0 }

  mutating func giveBack(_ amount: Int = 1, of key: Key) {
    guard amount > 0 else { return }
    all -= amount
    let rest = (ofEach[key] ?? 0) - amount
    precondition(all >= 0 && rest >= 0, "a share was given back that was not taken")
    ofEach[key] = rest == 0 ? nil : rest
  }
}
