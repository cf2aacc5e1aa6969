import HTTPTypes
import Hummingbird
import RelayCore
import RelayWire

/// The form in which a request contains its events.
enum EventFormat {
  /// One event as a JSON object, which includes the event's data.
  case one
  case batch
  /// One event in each line.
  case lines
  /// One event, whose attributes are header fields and whose data is the body.
  case binary

  /// True if the request may contain several events. An event that is too large is then rejected
  /// alone; otherwise it fails the whole request.
  var isBatch: Bool { self == .batch || self == .lines }

  /// Follows the rule of CloudEvents: a content type of CloudEvents decides the form. With any
  /// other content type, the `ce-` header fields decide.
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
  /// fields, so an attacker on the way could turn a signed update into a deletion. An attacker can
  /// also change the content type, but then the body is read in a wrong form and refused.
  ///
  /// - Throws: a 415, as for any form that is not supported. The signature is not verified before,
  ///   because a valid signature would not prove the event's type and id.
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

  /// Reads the field's bytes and no characters, because this code runs for every request of a
  /// producer and must be fast.
  init(_ field: String) {
    let name = field.utf8.drop { $0 == 0x20 }.prefix { $0 != UInt8(ascii: ";") && $0 != 0x20 }
    self.name = Substring(name).lowercased()
  }

  /// True for JSON and for types with the suffix `+json`.
  static func isJSON(_ name: String) -> Bool {
    Spelled(name) == "application/json" || name.utf8.suffix(5).elementsEqual("+json".utf8)
  }
}
