import HTTPTypes
import RelayCore
import RelayWire

/// An event in the binary mode of CloudEvents: its attributes are header fields, and its data is
/// the body.
struct BinaryEvent {
  private let attributes: JSONCursor
  private let data: JSONCursor
  /// The bytes of the event's data.
  let bytes: Int

  private static let names: [(key: StaticString, field: HTTPField.Name)] = [
    ("specversion", HTTPField.Name("ce-specversion")!), ("id", HTTPField.Name("ce-id")!),
    ("source", HTTPField.Name("ce-source")!), ("type", HTTPField.Name("ce-type")!),
    ("time", HTTPField.Name("ce-time")!),
  ]

  /// True if the header has at least one of the attributes in `names`. A header with only extension
  /// attributes makes no event.
  static func isOne(_ headers: HTTPFields) -> Bool {
    names.contains { headers.contains($0.field) }
  }

  /// - Throws: `JSONProblem` if the body is not JSON, or if a header field of the event is repeated
  ///   or cannot be decoded.
  init(_ headers: HTTPFields, body: [UInt8]) throws(JSONProblem) {
    var json = JSONWriter()
    json.beginObject()
    for (key, field) in Self.names {
      let values = headers[values: field]
      guard let value = values.first else { continue }
      guard values.count == 1 else { throw Self.problem(field, "stands more than once") }
      guard let text = Self.decoded(value) else {
        throw Self.problem(field, "is not UTF-8 in percent-encoding")
      }
      json.string(key, text)
    }
    json.endObject()
    attributes = try JSONTree(json.bytes).root
    data = try JSONTree(body).root
    bytes = body.count
  }

  /// The event's id; nil if the event has no id.
  var id: String? {
    // The read cannot fail, because `init` has written the id as a string.
    try? attributes.optional("id")?.string()
  }

  /// The change that `reader` makes from the event. Errors name the header field, or the path in
  /// the data.
  func change(by reader: EventReader) throws(JSONProblem) -> Change {
    let head: EventReader.Head
    do throws(JSONProblem) {
      head = try reader.head(of: attributes)
    } catch {
      throw JSONProblem(path: "ce-\(error.path)", what: error.what)
    }
    do throws(JSONProblem) {
      return try reader.change(head, data.object())
    } catch {
      let path = error.path.isEmpty ? "data" : "data.\(error.path)"
      throw JSONProblem(path: path, what: error.what)
    }
  }

  /// Decodes a field's value as the HTTP binding of CloudEvents demands (3.1.3.2): removes double
  /// quotes, then decodes percent escapes once. Returns nil if an escape is broken or the text is
  /// not UTF-8.
  private static func decoded(_ value: String) -> String? {
    guard value.utf8.first == UInt8(ascii: "\""), value.utf8.count >= 2,
      value.utf8.last == UInt8(ascii: "\"")
    else {
      return PercentText.decoded(value[...])
    }
    var plain = ""
    var isEscaped = false
    for character in value.dropFirst().dropLast().unicodeScalars {
      if !isEscaped, character == "\\" {
        isEscaped = true
      } else {
        plain.unicodeScalars.append(character)
        isEscaped = false
      }
    }
    return PercentText.decoded(plain[...])
  }

  private static func problem(_ field: HTTPField.Name, _ what: String) -> JSONProblem {
    JSONProblem(path: field.canonicalName, what: what)
  }
}
