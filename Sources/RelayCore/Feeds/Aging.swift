/// Entries that retention removes: old deletions and old notifications. All other entries stay.
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
