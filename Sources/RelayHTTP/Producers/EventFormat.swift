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

  /// True if several events may arrive. Each is then answered by its index.
  var isBatch: Bool { self == .batch || self == .lines }

  /// CloudEvents' rule: a content type of CloudEvents decides. With any other content type, the
  /// `ce-` fields decide.
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

  /// Refuses binary mode if the producer signs its requests. A signature covers the date, the body
  /// and the path, and no other header field. In binary mode the event's type and id are header
  /// fields: an attacker on the way could turn a signed update into a deletion. An attacker can
  /// also change the content type, but a structured body read in a wrong form is refused, and no
  /// event turns into another.
  ///
  /// - Throws: 415, as for any form that is not taken. The signature is not verified before,
  ///   because it would say nothing about the event.
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

  /// Reads byte by byte, because every request of a producer comes through here.
  init(_ field: String) {
    let name = field.utf8.drop { $0 == 0x20 }.prefix { $0 != UInt8(ascii: ";") && $0 != 0x20 }
    self.name = Substring(name).lowercased()
  }

  /// True for JSON and for types with the suffix `+json`.
  static func isJSON(_ name: String) -> Bool {
    Spelled(name) == "application/json" || name.utf8.suffix(5).elementsEqual("+json".utf8)
  }
}
