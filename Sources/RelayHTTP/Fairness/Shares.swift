/// How much of a bound is taken, in total and by each caller: one caller cannot take all of it.
///
/// Keeps no entry for a caller that has given everything back, so its size follows what is taken.
struct Shares<Key: Hashable & Sendable>: Sendable {
  enum Answer: Hashable { case taken, callerHasItsShare, full }

  let most: Int
  private(set) var all = 0
  private var ofEach: [Key: Int] = [:]

  init(most: Int) { self.most = most }

  /// Takes nothing unless the answer is `taken`.
  ///
  /// - Parameter share: what this caller may have in all.
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
