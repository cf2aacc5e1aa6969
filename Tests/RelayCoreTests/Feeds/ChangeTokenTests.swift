import RelayCore
import Testing

/// P10: a token cannot be forged or swapped between feeds, users, containers or environments.
@Suite struct ChangeTokenTests {
  private let keys = ToyKeys()
  private let feed = FeedKey(scope: Sample.scope, kind: .zone(Sample.zone))
  private let places = [
    FeedCursor(era: 7, position: Sample.position(3)),
    FeedCursor(era: 7, position: Sample.position(3, 2), scanHead: Sample.position(9)),
    FeedCursor(
      era: .max, position: Sample.position(5), scanHead: Sample.position(9),
      base: Sample.position(2), seen: Sample.position(77)),
    FeedCursor(era: 0, position: .zero),
  ]

  @Test func `a change token opens to the place that was sealed`() {
    for place in places {
      let token = ChangeToken.seal(place, feed: feed, reader: Sample.owner, with: keys)
      #expect(token.count == ChangeToken.byteCount)
      #expect(token == ChangeToken.seal(place, feed: feed, reader: Sample.owner, with: keys))
      #expect(
        ChangeToken.open(token, feed: feed, reader: Sample.owner, with: keys) == .place(place))
    }
  }

  @Test func `a token with a flipped bit does not open`() {
    let token = ChangeToken.seal(places[2], feed: feed, reader: Sample.owner, with: keys)
    for bit in 0..<(token.count * 8) {
      var forged = token
      forged[bit / 8] ^= 1 << UInt8(bit % 8)
      let opened = ChangeToken.open(forged, feed: feed, reader: Sample.owner, with: keys)
      if case .place = opened { Issue.record("bit \(bit) may be forged") }
    }
  }

  @Test func `a token of another length or version is garbled`() {
    let token = ChangeToken.seal(places[0], feed: feed, reader: Sample.owner, with: keys)
    var version = token
    version[0] = 9
    var kind = token
    kind[5] = 0
    for bytes in [[], Array(token.dropLast()), token + [0], version, kind] {
      #expect(ChangeToken.open(bytes, feed: feed, reader: Sample.owner, with: keys) == .garbled)
    }
  }

  @Test func `a token opens only for its own feed and reader`() {
    let other = Scope(container: "iCloud.com.example.other", environment: .development)
    let production = Scope(container: Sample.scope.container, environment: .production)
    let elsewhere: [(FeedKey, UserID)] = [
      (feed, UserID("_abd")),
      (FeedKey(scope: other, kind: feed.kind), Sample.owner),
      (FeedKey(scope: production, kind: feed.kind), Sample.owner),
      (FeedKey(scope: feed.scope, kind: .database(Sample.owner, .private)), Sample.owner),
      (FeedKey(scope: feed.scope, kind: .database(Sample.owner, .shared)), Sample.owner),
      (FeedKey(scope: feed.scope, kind: .notifications(Sample.owner)), Sample.owner),
      (
        FeedKey(scope: feed.scope, kind: .zone(ZoneID(name: "Other", owner: Sample.owner))),
        Sample.owner
      ),
    ]
    let token = ChangeToken.seal(places[0], feed: feed, reader: Sample.owner, with: keys)
    for (feed, reader) in elsewhere {
      #expect(ChangeToken.open(token, feed: feed, reader: reader, with: keys) == .foreign)
    }
  }

  @Test func `a new signing key keeps old tokens valid, a lost key does not`() {
    let token = ChangeToken.seal(places[0], feed: feed, reader: Sample.owner, with: keys)
    let rotated = ToyKeys(signing: 2, known: [1, 2])
    let lost = ToyKeys(signing: 2, known: [2])
    #expect(
      ChangeToken.open(token, feed: feed, reader: Sample.owner, with: rotated) == .place(places[0]))
    #expect(ChangeToken.open(token, feed: feed, reader: Sample.owner, with: lost) == .unknownKey)
    #expect(
      ChangeToken.seal(places[0], feed: feed, reader: Sample.owner, with: rotated) != token)
  }
}
