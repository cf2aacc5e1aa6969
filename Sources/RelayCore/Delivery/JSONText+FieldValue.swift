extension JSONText {
  /// Writes a field's value as a push carries it in `af`: strings and numbers unchanged; dates in
  /// milliseconds since 1970; bytes in hexadecimal; a reference as its record name; a location as
  /// `[lat,lon]`; a list as an array. The forms of dates, bytes, references and locations are this
  /// project's choice.
  package mutating func value(_ value: FieldValue) {
    switch value {
    case .string(let text): string(text)
    case .int64(let number): self.number(number)
    case .double(let number): self.number(number)
    case .bytes(let bytes): string(Hex.text(bytes))
    case .timestamp(let instant): number(instant.milliseconds)
    case .reference(let recordName, _): string(recordName)
    case .asset(let name): string(name)
    case .location(let latitude, let longitude): array([latitude, longitude]) { $0.number($1) }
    case .list(let values): array(values) { $0.value($1) }
    }
  }
}
