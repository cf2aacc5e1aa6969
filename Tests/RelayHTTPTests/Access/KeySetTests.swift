import Crypto
import CryptoExtras
import RelayCore
import RelayWire
import Testing

@testable import RelayHTTP

@Suite struct KeySetTests {
  @Test func `a key set accepts keys of three algorithms and skips all others`() throws {
    let shown = [
      try AccountKey.curve.shown(id: "a", more: #","use":"sig","alg":"ES256","x5t":"AA""#),
      try AccountKey.rsa().shown(id: "b"),
      try AccountKey.edwards.shown(id: "c", more: #","alg":"Ed25519""#),
      try AccountKey.edwards.shown(id: "d", more: #","use":"enc""#),
      try AccountKey.rsa().shown(id: "e", more: #","alg":"PS256""#),
      #"{"kty":"EC","crv":"P-384","kid":"f","x":"AA","y":"AA"}"#,
      #"{"kty":"AKP","kid":"g"}"#,
    ]
    let set = try KeySet(AccountKey.set(shown))
    #expect(set.keys.map(\.id) == ["a", "b", "c"])
    #expect(set.keys.map(\.algorithm) == [.es256, .rs256, .eddsa])
    #expect(set.problems == [])
  }

  @Test func `a key set names all its unusable keys at once`() throws {
    let short = try _RSA.Signing.PrivateKey(unsafeKeySize: .init(bitCount: 1_024))
    let twice = try AccountKey.curve.shown(id: "t")
    let shown = [
      #"{"kty":"EC","crv":"P-256","x":"AAAA","y":"AAAA"}"#,
      #"{"kty":"EC","crv":"P-256","x":"\#(zeros)","y":"\#(zeros)"}"#,
      #"{"kty":"EC","crv":"P-256","x":"AAAA"}"#,
      try AccountKey.rs256(short).shown(id: "s"),
      #"{"kty":"RSA","n":"\#(modulus)","e":"AQ"}"#,
      #"{"kty":"RSA","n":"\#(modulus)","e":"AA"}"#,
      #"{"kty":"OKP","crv":"Ed25519","x":"AAAA"}"#,
      #"{"kty":"oct","k":"AAAA"}"#,
      try AccountKey.curve.shown(id: "p", more: #","d":"AAAA""#),
      twice, twice, #"7"#, #"{"kid":"x"}"#,
    ]
    let set = try KeySet(AccountKey.set(shown))
    #expect(set.keys.map(\.id) == ["t"])
    let words = [
      "keys[0] is no ES256", "keys[1] is no ES256", "keys[2].y", "keys[3] is no RS256",
      "keys[4] is no RS256", "keys[5] is no RS256", "keys[6] is no EdDSA", "shared secret",
      "private key", "the kid 't' of another", "keys[11]", "keys[12].kty",
    ]
    #expect(set.problems.count == words.count)
    for (problem, word) in zip(set.problems, words) {
      #expect(problem.contains(word), "\(problem)")
    }
  }

  private let zeros = Base64.urlText(Array(repeating: 0, count: 32))
  private let modulus = Base64.urlText(Array(repeating: 0xff, count: 256))

  @Test(arguments: ["", "[]", "{}", #"{"keys":{}}"#])
  func `a text that is not a key set is refused`(text: String) {
    #expect(throws: KeySet.Unreadable.self) { try KeySet(Array(text.utf8)) }
  }

  @Test(arguments: [(count: 99, isRefused: false), (100, false), (101, true)])
  func `a key set has at most 100 keys`(count: Int, isRefused: Bool) {
    let keys = AccountKey.set(Array(repeating: "{}", count: count))
    guard isRefused else {
      #expect(throws: Never.self) { try KeySet(keys) }
      return
    }
    let why = #expect(throws: KeySet.Unreadable.self) { try KeySet(keys) }
    #expect(why?.reason == "lists 101 keys, more than 100")
  }

  /// A fetched set with the same keys counts as unchanged, even if other members of its JSON
  /// differ.
  @Test func `key sets are equal when their keys are equal`() throws {
    let key = AccountKey.curve
    let one = try KeySet(AccountKey.set([try key.shown(id: "a")]))
    let same = try KeySet(AccountKey.set([try key.shown(id: "a", more: #","x5t":"BB""#)]))
    let other = try KeySet(AccountKey.set([try key.shown(id: "b")]))
    #expect(one == same)
    #expect(one != other)
  }
}

@Suite struct KeyScheduleTests {
  private func at(_ seconds: Int64) -> Instant { Instant(milliseconds: 0) + .seconds(seconds) }

  @Test func `a fetch of keys is due at once and then after the bounded max-age`() {
    let ages: [(Span?, Int64)] = [
      (nil, 3_600), (.zero, 300), (.minutes(20), 1_200), (.days(30), 86_400),
    ]
    for (age, seconds) in ages {
      var schedule = KeySchedule(at: at(0))
      #expect(schedule.isDue(at: at(0)) == true)
      schedule.begin(at: at(0))
      #expect(schedule.isDue(at: at(9)) == false, "one fetch at a time")
      schedule.arrived(maxAge: age, at: at(1))
      #expect(schedule.isDue(at: at(seconds)) == false)
      #expect(schedule.isDue(at: at(seconds + 1)) == true)
    }
  }

  @Test func `failed fetches repeat at growing intervals, and a success resets them`() {
    var schedule = KeySchedule(at: at(0))
    var now: Int64 = 0
    for gap in [5, 10, 20, 40, 80, 160, 300, 300] as [Int64] {
      schedule.begin(at: at(now))
      schedule.failed(at: at(now))
      #expect(schedule.isDue(at: at(now + gap - 1)) == false)
      now += gap
      #expect(schedule.isDue(at: at(now)) == true)
    }
    schedule.begin(at: at(now))
    schedule.arrived(maxAge: nil, at: at(now))
    schedule.begin(at: at(now + 3_600))
    schedule.failed(at: at(now + 3_600))
    #expect(schedule.isDue(at: at(now + 3_605)) == true)
  }

  @Test func `an unknown key causes at most one fetch a minute`() {
    var schedule = KeySchedule(at: at(0))
    #expect(schedule.missed(at: at(0)) == true, "a fetch comes at once anyway")
    schedule.begin(at: at(0))
    #expect(schedule.missed(at: at(1)) == true, "one is under way")
    schedule.arrived(maxAge: nil, at: at(2))
    #expect(schedule.missed(at: at(59)) == false)
    #expect(schedule.isDue(at: at(59)) == false)
    #expect(schedule.missed(at: at(60)) == true)
    #expect(schedule.isDue(at: at(60)) == true)
    schedule.begin(at: at(60))
    schedule.failed(at: at(61))
    #expect(schedule.missed(at: at(62)) == false)
  }
}
