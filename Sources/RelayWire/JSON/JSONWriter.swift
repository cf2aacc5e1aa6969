/// Writes JSON text in the order of the calls. Keys are literals and are not escaped.
package struct JSONWriter: Sendable {
  package private(set) var bytes: [UInt8] = []

  package init(capacity: Int = 256) { bytes.reserveCapacity(capacity) }

  /// Opens an object, as a value of an array or after a key.
  package mutating func beginObject() {
    separate()
    bytes.append(UInt8(ascii: "{"))
  }

  package mutating func endObject() { bytes.append(UInt8(ascii: "}")) }

  package mutating func beginArray() {
    separate()
    bytes.append(UInt8(ascii: "["))
  }

  package mutating func endArray() { bytes.append(UInt8(ascii: "]")) }

  package mutating func key(_ name: StaticString) {
    separate()
    bytes.append(UInt8(ascii: "\""))
    bytes.append(
      contentsOf: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
    bytes.append(UInt8(ascii: "\""))
    bytes.append(UInt8(ascii: ":"))
  }

  /// Writes the colon after a key that is known only at run time. Call `string` for the key, then
  /// `colon`, then write the value.
  package mutating func colon() { bytes.append(UInt8(ascii: ":")) }

  package mutating func string(_ text: String) {
    separate()
    bytes.append(UInt8(ascii: "\""))
    var text = text
    text.withUTF8 { append($0) }
    bytes.append(UInt8(ascii: "\""))
  }

  package mutating func integer(_ number: some BinaryInteger) {
    separate()
    bytes.append(contentsOf: number.description.utf8)
  }

  /// A number that JSON cannot express (infinity, NaN) is written as null.
  package mutating func double(_ number: Double) {
    separate()
    bytes.append(contentsOf: (number.isFinite ? number.description : "null").utf8)
  }

  package mutating func boolean(_ value: Bool) {
    separate()
    bytes.append(contentsOf: (value ? "true" : "false").utf8)
  }

  package mutating func null() {
    separate()
    bytes.append(contentsOf: "null".utf8)
  }

  /// Writes a comma, unless the value is the first of its array or object, or follows its key.
  private mutating func separate() {
    switch bytes.last {
    case nil, UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: ":"): return
    default: bytes.append(UInt8(ascii: ","))
    }
  }

  private mutating func append(_ text: UnsafeBufferPointer<UInt8>) {
    var clean = 0
    for place in text.indices {
      let byte = text[place]
      guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else {
        continue
      }
      bytes.append(contentsOf: text[clean..<place])
      escape(byte)
      clean = place + 1
    }
    bytes.append(contentsOf: text[clean...])
  }

  private mutating func escape(_ byte: UInt8) {
    bytes.append(UInt8(ascii: "\\"))
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(byte)
    case 0x0a: bytes.append(UInt8(ascii: "n"))
    case 0x0d: bytes.append(UInt8(ascii: "r"))
    case 0x09: bytes.append(UInt8(ascii: "t"))
    default:
      bytes.append(contentsOf: "u00".utf8)
      for nibble in [byte >> 4, byte & 0x0f] {
        bytes.append(nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") + nibble - 10)
      }
    }
  }
}

extension JSONWriter {
  package mutating func string(_ key: StaticString, _ text: String) {
    self.key(key)
    string(text)
  }

  /// Writes nothing if `text` is nil.
  package mutating func string(_ key: StaticString, ifAny text: String?) {
    guard let text else { return }
    string(key, text)
  }

  package mutating func integer(_ key: StaticString, _ number: some BinaryInteger) {
    self.key(key)
    integer(number)
  }

  package mutating func boolean(_ key: StaticString, _ value: Bool) {
    self.key(key)
    boolean(value)
  }

  package mutating func double(_ key: StaticString, _ number: Double) {
    self.key(key)
    double(number)
  }

  package mutating func strings(_ key: StaticString, _ texts: [String]) {
    beginArray(key)
    for text in texts { string(text) }
    endArray()
  }

  package mutating func beginArray(_ key: StaticString) {
    self.key(key)
    beginArray()
  }

  /// Writes an object, whose members `members` writes.
  package mutating func object<Failure: Error>(
    _ members: (inout JSONWriter) throws(Failure) -> Void
  ) throws(Failure) {
    beginObject()
    try members(&self)
    endObject()
  }

  package mutating func object(_ key: StaticString, _ members: (inout JSONWriter) -> Void) {
    self.key(key)
    object(members)
  }

  /// Writes an array with one object for each item; `members` writes the members of each object.
  package mutating func objects<Item>(
    _ key: StaticString, _ items: some Sequence<Item>, _ members: (inout JSONWriter, Item) -> Void
  ) {
    beginArray(key)
    for item in items { object { members(&$0, item) } }
    endArray()
  }

  /// A text that is one object, whose members `members` writes.
  package static func object<Failure: Error>(
    capacity: Int = 256, _ members: (inout JSONWriter) throws(Failure) -> Void
  ) throws(Failure) -> JSONWriter {
    var json = JSONWriter(capacity: capacity)
    try json.object(members)
    return json
  }
}
