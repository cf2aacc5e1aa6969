import RelayCore

enum MediaType {
  /// A media type without its parameters. Reads the field's bytes and no characters, because this
  /// code runs for every request of a producer and must be fast.
  static func name(of field: String) -> String {
    let name = field.utf8.drop { $0 == 0x20 }.prefix { $0 != UInt8(ascii: ";") && $0 != 0x20 }
    return Substring(name).lowercased()
  }

  /// True for JSON and for types with the suffix `+json`.
  static func isJSON(_ name: String) -> Bool {
    Spelled(name) == "application/json" || name.utf8.suffix(5).elementsEqual("+json".utf8)
  }
}
