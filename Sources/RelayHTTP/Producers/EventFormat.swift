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
  /// alone. In a form for one event, such an event fails the whole request.
  var isBatch: Bool { self == .batch || self == .lines }

  /// Follows the rule of CloudEvents: a content type of CloudEvents decides the form, and so does
  /// `application/x-ndjson`. With a content type of JSON, or with no content type, the `ce-` header
  /// fields make the form binary.
  init(of request: Request) throws(WireError) {
    let type = MediaType.name(of: request.headers[.contentType] ?? "")
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

  /// The events of a request in this form. A line that is not JSON is in the list, as `broken`.
  ///
  /// - Throws: an error if the body is not in this form, is an empty batch, or has more events than
  ///   a request may have.
  func events(
    in bytes: [UInt8], _ headers: HTTPFields, _ limits: HTTPLimits
  ) throws -> [ArrivedEvent] {
    switch self {
    case .binary: return [.binary(try BinaryEvent(headers, body: bytes))]
    case .one:
      let root = try JSONTree(bytes).root
      guard root.isObject else {
        throw WireError(
          .badRequest,
          "the body must be one event; an array travels as application/cloudevents-batch+json")
      }
      return [.json(root)]
    case .batch:
      let root = try JSONTree(bytes).root
      guard root.isArray else {
        throw WireError(.badRequest, "the body must be an array of events")
      }
      let events = try root.elements()
      try Self.check(events.count, limits)
      return events.map { .json($0) }
    case .lines:
      let lines = bytes.split(separator: UInt8(ascii: "\n")).filter { !Self.isBlank($0) }
      try Self.check(lines.count, limits)
      return lines.map { ArrivedEvent(line: $0) }
    }
  }

  private static func check(_ count: Int, _ limits: HTTPLimits) throws(WireError) {
    guard count > 0 else { throw WireError(.badRequest, "the batch is empty") }
    guard count <= limits.eventsPerRequest else {
      throw WireError(
        .badRequest,
        "\(count) events; a request takes at most \(limits.eventsPerRequest), split the batch")
    }
  }

  private static func isBlank(_ line: ArraySlice<UInt8>) -> Bool {
    line.allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0d }
  }
}
