internal import Foundation

/// A zone or record in a feed, with the position of its last change.
struct FeedEntry {
  var position = 0
  /// The position at which the zone or record was first created.
  private(set) var born = 0
  /// The position of the last deletion after which the zone or record was created again; 0 if it
  /// was never created again.
  private var died = 0
  /// The position at which the zone or record was last created: at first, or after a deletion.
  private(set) var reborn = 0
  var isDeleted = false
  /// The installation that made the last change.
  var device: UUID?
  /// The position of the last change that `device` did not make.
  var foreign = 0

  mutating func change(at position: Int, by device: UUID?, isDeleted: Bool) {
    if self.position == 0 {
      (born, reborn) = (position, position)
    } else if self.isDeleted, !isDeleted {
      (died, reborn) = (self.position, position)
    }
    if self.device != device || device == nil {
      foreign = device == nil ? position : self.position
    }
    (self.position, self.device, self.isDeleted) = (position, device, isDeleted)
  }

  /// Whether a reader must be shown the entry. A zone or record that was both created and deleted
  /// since the reader's catch-up began is not shown.
  func isNews(for reader: FeedCursor) -> Bool {
    guard position > reader.position else { return false }
    guard isDeleted, position <= reader.head ?? position else { return true }
    let isUnknown = reader.base < born || (died <= reader.base && reader.base < reborn)
    return reader.base > 0 && !isUnknown
  }

  /// Whether everything since the reader's catch-up began was done by the installation itself.
  func isOwn(of installation: UUID?, for reader: FeedCursor) -> Bool {
    device != nil && device == installation && foreign <= reader.base
  }
}
