/// Subscriptions in order of serial, in pieces of bounded size. An insertion or removal moves at
/// most one piece, also in a list of a million items.
struct PostingList: Sendable {
  struct Item: Sendable {
    let serial: Position
    let user: Int
    let held: SubscriptionIndex.Held
  }

  /// The most items in a piece. An item takes 24 bytes, so an insertion moves at most 6 KB.
  static let pieceMax = 256

  /// No piece is empty.
  private var pieces: [[Item]] = []

  var isEmpty: Bool { pieces.isEmpty }

  /// - Precondition: no item has this serial.
  mutating func insert(_ item: Item) {
    guard !pieces.isEmpty else { return pieces.append([item]) }
    let piece = max(0, firstPiece(beyond: item.serial) - 1)
    let place = Self.first(in: pieces[piece], after: item.serial)
    if pieces[piece].count < Self.pieceMax {
      pieces[piece].insert(item, at: place)
    } else if place == Self.pieceMax, piece == pieces.count - 1 {
      // Serials rise, so a new item usually goes to the end of the list. There it starts a new
      // piece, so that the last piece, which is full, is not split.
      pieces.append([item])
    } else {
      split(piece)
      insert(item)
    }
  }

  mutating func remove(_ serial: Position) {
    let piece = firstPiece(beyond: serial) - 1
    guard piece >= 0, let place = pieces[piece].firstIndex(where: { $0.serial == serial }) else {
      return
    }
    pieces[piece].remove(at: place)
    if pieces[piece].isEmpty { pieces.remove(at: piece) }
  }

  private mutating func split(_ piece: Int) {
    let half = pieces[piece].count / 2
    let upper = Array(pieces[piece][half...])
    pieces[piece].removeSubrange(half...)
    pieces.insert(upper, at: piece + 1)
  }

  /// Compares how many pieces the lists have, then the lists' first serials; the result is the same
  /// in every replay.
  static func isShorter(_ left: PostingList, _ right: PostingList) -> Bool {
    guard left.pieces.count == right.pieces.count else {
      return left.pieces.count < right.pieces.count
    }
    guard let one = left.pieces.first?.first, let other = right.pieces.first?.first else {
      return false
    }
    return one.serial < other.serial
  }

  /// The number of items, counted up to `most` + 1.
  func count(upTo most: Int) -> Int {
    var count = 0
    for piece in pieces where count <= most { count += piece.count }
    return min(count, most + 1)
  }

  /// The serial of one item; the hash `draw` decides which one.
  func serial(_ draw: UInt64) -> Position {
    guard !pieces.isEmpty else { return .zero }
    let piece = pieces[Int((draw >> 40) % UInt64(pieces.count))]
    return piece[Int((draw >> 20 & 0xf_ffff) % UInt64(piece.count))].serial
  }

  private func firstPiece(beyond serial: Position) -> Int {
    var (low, high) = (0, pieces.count)
    while low < high {
      let middle = (low + high) / 2
      if pieces[middle][0].serial <= serial { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private static func first(in piece: [Item], after serial: Position) -> Int {
    var (low, high) = (0, piece.count)
    while low < high {
      let middle = (low + high) / 2
      if piece[middle].serial <= serial { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Iterates over the items after `cursor`, in order.
  func walk(after cursor: Position) -> Walk { Walk(self, after: cursor) }

  struct Walk {
    /// The current item; `nil` means that no item is left.
    private(set) var item: Item?
    private let list: PostingList
    private var piece: Int
    private var place: Int

    fileprivate init(_ list: PostingList, after cursor: Position) {
      self.list = list
      piece = max(0, list.firstPiece(beyond: cursor) - 1)
      place = list.isEmpty ? 0 : PostingList.first(in: list.pieces[piece], after: cursor)
      settle()
    }

    mutating func advance() {
      place += 1
      settle()
    }

    private mutating func settle() {
      if piece < list.pieces.count, place == list.pieces[piece].count {
        (piece, place) = (piece + 1, 0)
      }
      item = piece < list.pieces.count ? list.pieces[piece][place] : nil
    }
  }
}
