/// Gives each user of a partition a small number, which indexes flat arrays. A number is reused
/// once the partition holds nothing of its user any more.
package struct Users: Sendable {
  package struct Key: Hashable, Sendable {
    package var scope: Scope
    package var user: UserID

    package init(scope: Scope, user: UserID) {
      self.scope = scope
      self.user = user
    }
  }

  private var numbers: [Key: Int] = [:]
  private var keys: [Key?] = []
  private var free: [Int] = []

  package init() {}

  package subscript(number: Int) -> Key {
    guard let key = keys[number] else { preconditionFailure("a user's number outlived the user") }
    return key
  }

  package func find(_ user: UserID, in scope: Scope) -> Int? {
    numbers[Key(scope: scope, user: user)]
  }

  package mutating func intern(_ user: UserID, in scope: Scope) -> Int {
    let key = Key(scope: scope, user: user)
    if let number = numbers[key] { return number }
    let number: Int
    if let reused = free.popLast() {
      number = reused
      keys[number] = key
    } else {
      number = keys.count
      keys.append(key)
    }
    numbers[key] = number
    return number
  }

  package mutating func release(_ number: Int) {
    guard let key = keys[number] else { return }
    numbers[key] = nil
    keys[number] = nil
    free.append(number)
  }
}
