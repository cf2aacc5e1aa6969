internal import Foundation

/// One subject of a feed, with the place of its last change.
struct FeedEntry {
  var position = 0
  /// The place where its present life began. A reader that has not seen this life is not told of its
  /// end.
  var born = 0
  var isDeleted = false
  /// The installation that made the last change.
  var device: UUID?
  /// The place of the last change that `device` did not make.
  var foreign = 0

  mutating func change(at position: Int, by device: UUID?, isDeleted: Bool) {
    if self.isDeleted || born == 0 { born = position }
    if self.device != device || device == nil {
      foreign = device == nil ? position : self.position
    }
    (self.position, self.device, self.isDeleted) = (position, device, isDeleted)
  }

  /// Whether a reader at this place of the feed must be shown the entry.
  func isNews(after place: Int) -> Bool {
    position > place && !(isDeleted && (place == 0 || place < born))
  }

  /// Whether everything after this place was done by the installation itself.
  func isOwn(of installation: UUID?, after place: Int) -> Bool {
    device != nil && device == installation && foreign <= place
  }
}
