import HTTPTypes
import Hummingbird
import RelayCore
import RelayWire

/// How a request carries its events.
enum EventFormat {
  /// One event, its data inside it.
  case one
  case batch
  /// One event a line.
  case lines
  /// One event: its attributes are header fields, its data is the body.
  case binary

  /// Several events may come, and each is answered by its index.
  var isBatch: Bool { self == .batch || self == .lines }

  /// CloudEvents' rule: a content type of CloudEvents decides; with any other the `ce-` fields do.
  init(of request: Request) throws(WireError) {
    let type = MediaType(request.headers[.contentType] ?? "").name
    switch Spelled(type) {
    case "application/cloudevents+json": self = .one
    case "application/cloudevents-batch+json": self = .batch
    case "application/x-ndjson": self = .lines
    case _ where BinaryEvent.isOne(request.headers) && (type.isEmpty || MediaType.isJSON(type)):
      self = .binary
    default:
      throw WireError(
        .badRequest,
        "Content-Type must be application/cloudevents+json, application/cloudevents-batch+json or "
          + "application/x-ndjson; with ce- headers application/json",
        status: .unsupportedMediaType)
    }
  }

  /// A signature covers the date, the body and the path, and no other header field. In binary mode
  /// the event's type and id are header fields: an attacker on the way could turn a signed update
  /// into a deletion. The content type can be changed too, but that turns no event of a structured
  /// body into another one: read in a wrong form, it is refused.
  ///
  /// - Throws: 415, as for any form that is not taken. The signature is not looked at before: it
  ///   would say nothing of the event.
  func check(for claim: ProducerClaim) throws(WireError) {
    guard self == .binary, case .signed = claim else { return }
    throw WireError(
      .badRequest,
      "binary mode is refused to a producer that signs: its signature does not cover the ce- "
        + "headers; send the event in structured mode, as application/cloudevents+json",
      status: .unsupportedMediaType)
  }
}

/// A media type without its parameters.
struct MediaType {
  let name: String

  /// Byte by byte: every request of a producer comes through here.
  init(_ field: String) {
    let name = field.utf8.drop { $0 == 0x20 }.prefix { $0 != UInt8(ascii: ";") && $0 != 0x20 }
    self.name = Substring(name).lowercased()
  }

  /// True for JSON and what is built on it.
  static func isJSON(_ name: String) -> Bool {
    Spelled(name) == "application/json" || name.utf8.suffix(5).elementsEqual("+json".utf8)
  }
}
