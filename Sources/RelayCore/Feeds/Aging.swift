/// What retention applies to an entry: deletions and notifications age, all else stays.
package enum Aging: Int {
  case tombstone = 1
  case notification = 2

  package init?(_ entry: Entry) {
    if case .notification = entry.detail {
      self = .notification
    } else if entry.life.isPresent {
      return nil
    } else {
      self = .tombstone
    }
  }
}
