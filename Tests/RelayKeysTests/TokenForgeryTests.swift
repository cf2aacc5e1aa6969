import RelayCore
import RelayEngine
import RelayKeys
import Testing

/// Change tokens under real keys: a token with a changed bit is refused, and no token is valid for
/// another reader, feed, container or environment (P10).
@Suite struct TokenForgeryTests {
  private let folder = Folder()
  private let reader = UserID("_abc")
  private let place = FeedCursor(
    era: 0x0123_4567_89ab_cdef, position: Position(Ordinal(77), index: 3),
    scanHead: Position(Ordinal(99)))

  private var feed: FeedKey { key("iCloud.com.example.notes", .development, "ReadingList") }

  @Test func `a sealed token opens to its place and always has the same bytes`() throws {
    let ring = try KeyRing.kept(storeDirectory: folder.path)
    let places = [
      place, FeedCursor(era: 1, position: .zero), FeedCursor(era: .max, position: place.position),
    ]
    for place in places {
      let token = ChangeToken.seal(place, feed: feed, reader: reader, with: ring)
      #expect(token.count == ChangeToken.byteCount)
      #expect(token == ChangeToken.seal(place, feed: feed, reader: reader, with: ring))
      #expect(
        ChangeToken.open(token, feed: feed, reader: reader, with: ring) == .place(place))
    }
  }

  @Test func `a token with a flipped bit opens to no place`() throws {
    let ring = try KeyRing.kept(storeDirectory: folder.path)
    let token = ChangeToken.seal(place, feed: feed, reader: reader, with: ring)
    for bit in 0..<token.count * 8 {
      var forged = token
      forged[bit / 8] ^= 1 << UInt8(bit % 8)
      let opened = ChangeToken.open(forged, feed: feed, reader: reader, with: ring)
      switch bit / 8 {
      case 0: #expect(opened == .garbled)
      case 1...4: #expect(opened == .unknownKey)
      case 5: #expect(opened == .garbled || opened == .foreign)
      default: #expect(opened == .foreign)
      }
    }
  }

  @Test func `a token cut short or lengthened is garbled`() throws {
    let ring = try KeyRing.kept(storeDirectory: folder.path)
    let token = ChangeToken.seal(place, feed: feed, reader: reader, with: ring)
    for count in 0..<token.count {
      #expect(
        ChangeToken.open(Array(token[..<count]), feed: feed, reader: reader, with: ring)
          == .garbled)
    }
    #expect(ChangeToken.open(token + [0], feed: feed, reader: reader, with: ring) == .garbled)
  }

  @Test func `a token serves one feed of one reader in one scope`() throws {
    let ring = try KeyRing.kept(storeDirectory: folder.path)
    let token = ChangeToken.seal(place, feed: feed, reader: reader, with: ring)
    let feeds = [
      key("iCloud.com.example.notes", .development, "Other"),
      key("iCloud.com.example.notes", .production, "ReadingList"),
      key("iCloud.com.example.note", .development, "sReadingList"),
      FeedKey(scope: feed.scope, kind: .database(reader, .private)),
      FeedKey(scope: feed.scope, kind: .notifications(reader)),
    ]
    for other in feeds {
      #expect(ChangeToken.open(token, feed: other, reader: reader, with: ring) == .foreign)
    }
    #expect(ChangeToken.open(token, feed: feed, reader: UserID("_abd"), with: ring) == .foreign)
    let elsewhere = Folder()
    let stranger = try KeyRing.kept(storeDirectory: elsewhere.path)
    #expect(ChangeToken.open(token, feed: feed, reader: reader, with: stranger) == .unknownKey)
  }

  @Test func `tokens of a replaced key are valid while the key is listed`() throws {
    let old = try folder.write("old", String(repeating: "01", count: 32))
    let new = try folder.write("new", String(repeating: "02", count: 32))
    let before = try KeyRing.kept(storeDirectory: folder.path, listed: [old])
    let token = ChangeToken.seal(place, feed: feed, reader: reader, with: before)
    let both = try KeyRing.kept(storeDirectory: folder.path, listed: [new, old])
    #expect(ChangeToken.open(token, feed: feed, reader: reader, with: both) == .place(place))
    let after = try KeyRing.kept(storeDirectory: folder.path, listed: [new])
    #expect(ChangeToken.open(token, feed: feed, reader: reader, with: after) == .unknownKey)
  }

  private func key(_ container: String, _ environment: Environment, _ zone: String) -> FeedKey {
    FeedKey(
      scope: Scope(container: container, environment: environment),
      kind: .zone(ZoneID(name: zone, owner: reader)))
  }
}
