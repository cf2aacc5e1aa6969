import RelayCore

/// The contents of a payload, as a client reads the payload.
struct PushText {
  var zones: [ZoneRef] = []
  /// The zones that must not be fetched before `notBefore` (in seconds since 1970).
  var waiting: [ZoneRef] = []
  var notBefore: Int64?
  var hasQuery = false
  var isMore = false
  var notification: String?
  var subscription: String?
  var isContentAvailable = false
  var shown: ZoneRef?
  var record: String?

  /// The alert that the payload shows, if it shows one.
  var alert: String { WorldObserver.alert(subscription, shown, record) }

  struct ZoneRef: Hashable {
    var zone: ZoneID
    var database: Database
  }

  /// Parses a payload; the result is nil if the payload is not the JSON of a push.
  init?(_ payload: [UInt8]) {
    var reader = PushReader(bytes: payload)
    guard let root = reader.value(), reader.isAtEnd, let zr = root["zr"], let ck = root["ck"],
      let aps = root["aps"], zr["w"]?.number != nil
    else { return nil }
    for item in zr["z"]?.items ?? [] {
      let parts = item.items
      guard (3...4).contains(parts.count),
        let name = parts[0].text, let owner = parts[1].text, let number = parts[2].number,
        let database = Database(rawValue: UInt8(number))
      else { return nil }
      let ref = ZoneRef(zone: ZoneID(name: name, owner: UserID(owner)), database: database)
      zones.append(ref)
      if parts.count == 4 { waiting.append(ref) }
    }
    notBefore = zr["nb"]?.number.map(Int64.init)
    hasQuery = zr["q"] != nil
    isMore = zr["m"] != nil
    notification = ck["nid"]?.text
    isContentAvailable = aps["content-available"] != nil
    let sub = ck["qry"] ?? ck["fet"] ?? ck["met"]
    subscription = sub?["sid"]?.text
    record = sub?["rid"]?.text
    if let name = sub?["zid"]?.text, let owner = sub?["zoid"]?.text,
      let database = sub?["dbs"]?.number.flatMap({ Database(rawValue: UInt8($0)) })
    {
      shown = ZoneRef(zone: ZoneID(name: name, owner: UserID(owner)), database: database)
    }
  }
}

/// Reads the subset of JSON that payloads use.
private struct PushReader {
  indirect enum Value {
    case number(Int)
    case text(String)
    case items([Value])
    case members([(String, Value)])

    var number: Int? { if case .number(let value) = self { value } else { nil } }
    var text: String? { if case .text(let value) = self { value } else { nil } }
    var items: [Value] { if case .items(let value) = self { value } else { [] } }
    subscript(_ key: String) -> Value? {
      guard case .members(let members) = self else { return nil }
      return members.first { $0.0 == key }?.1
    }
  }

  let bytes: [UInt8]
  var place = 0

  var isAtEnd: Bool { place == bytes.count }

  private mutating func take(_ character: Character) -> Bool {
    guard place < bytes.count, bytes[place] == character.asciiValue else { return false }
    place += 1
    return true
  }

  mutating func value() -> Value? {
    guard place < bytes.count else { return nil }
    switch bytes[place] {
    case UInt8(ascii: "{"): return members()
    case UInt8(ascii: "["): return items()
    case UInt8(ascii: "\""): return text().map { .text($0) }
    default: return number()
    }
  }

  private mutating func members() -> Value? {
    list(endedBy: "}") { reader in
      guard let key = reader.text(), reader.take(":") else { return nil }
      return reader.value().map { (key, $0) }
    }.map { .members($0) }
  }

  private mutating func items() -> Value? {
    list(endedBy: "]") { $0.value() }.map { .items($0) }
  }

  private mutating func list<Element>(
    endedBy end: Character, _ element: (inout PushReader) -> Element?
  ) -> [Element]? {
    place += 1
    if take(end) { return [] }
    var all: [Element] = []
    repeat {
      guard let next = element(&self) else { return nil }
      all.append(next)
    } while take(",")
    return take(end) ? all : nil
  }

  private mutating func text() -> String? {
    guard take("\"") else { return nil }
    let start = place
    while place < bytes.count, bytes[place] != UInt8(ascii: "\"") { place += 1 }
    defer { place += 1 }
    return place < bytes.count ? String(decoding: bytes[start..<place], as: UTF8.self) : nil
  }

  private mutating func number() -> Value? {
    var value = 0
    let start = place
    while place < bytes.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[place]) {
      value = value * 10 + Int(bytes[place] - UInt8(ascii: "0"))
      place += 1
    }
    return place > start ? .number(value) : nil
  }
}
