internal import Foundation

/// Reads the data of server-sent events from bytes that come in pieces, as HTML's standard defines
/// them: https://html.spec.whatwg.org/multipage/server-sent-events.html
struct ServerSentEvents {
  private var line: [UInt8] = []
  private var data: [UInt8] = []
  private var hasData = false
  private var wasReturn = false

  /// A longer event is dropped. A push has at most 4,096 bytes.
  static let bytesMax = 1 << 16

  /// - Returns: the data of the events that these bytes have completed.
  mutating func append(_ bytes: some Sequence<UInt8>) -> [Data] {
    var events: [Data] = []
    for byte in bytes {
      defer { wasReturn = byte == UInt8(ascii: "\r") }
      switch byte {
      case UInt8(ascii: "\n") where wasReturn: break
      case UInt8(ascii: "\r"), UInt8(ascii: "\n"):
        if let event = endLine() { events.append(event) }
      default:
        if line.count <= Self.bytesMax { line.append(byte) }
      }
    }
    return events
  }

  private mutating func endLine() -> Data? {
    defer { line.removeAll(keepingCapacity: true) }
    guard !line.isEmpty else {
      defer { (data, hasData) = ([], false) }
      return hasData && data.count <= Self.bytesMax ? Data(data) : nil
    }
    let name = line.prefix { $0 != UInt8(ascii: ":") }
    guard name.elementsEqual("data".utf8) else { return nil }
    var value = line.dropFirst(name.count + 1)
    if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
    if hasData { data.append(UInt8(ascii: "\n")) }
    hasData = true
    if data.count <= Self.bytesMax { data.append(contentsOf: value) }
    return nil
  }
}
