package import RelayCore

extension Field: ByteCoded {
  package func write(to writer: inout ByteWriter) {
    writer.text(name)
    value.write(to: &writer)
  }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    self.init(name: try reader.text("Field"), value: try FieldValue(from: &reader))
  }
}

extension FieldValue: ByteCoded {
  package func write(to writer: inout ByteWriter) { write(to: &writer, depth: 0) }

  /// Writes an empty list in place of each list that is nested deeper than a reader accepts,
  /// because an entry that can be written but not read would make the next start fail. Field values
  /// are used only to match filters and to make payloads.
  private func write(to writer: inout ByteWriter, depth: Int) {
    switch self {
    case .string(let text):
      writer.byte(1)
      writer.text(text)
    case .int64(let number):
      writer.byte(2)
      writer.signed(number)
    case .double(let number):
      writer.byte(3)
      writer.double(number)
    case .bytes(let bytes):
      writer.byte(4)
      writer.data(bytes)
    case .timestamp(let instant):
      writer.byte(5)
      writer.value(instant)
    case .reference(let name, let zone):
      writer.byte(6)
      writer.text(name)
      writer.optional(zone)
    case .location(let latitude, let longitude):
      writer.byte(7)
      writer.double(latitude)
      writer.double(longitude)
    case .asset(let text):
      writer.byte(8)
      writer.text(text)
    case .list(let values):
      writer.byte(9)
      guard depth < ByteReader.depthMax else { return writer.count(0) }
      writer.count(values.count)
      for value in values { value.write(to: &writer, depth: depth + 1) }
    }
  }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    let kind = try reader.byte("FieldValue")
    switch kind {
    case 1: self = .string(try reader.text("FieldValue"))
    case 2: self = .int64(try reader.signed("FieldValue"))
    case 3: self = .double(try reader.double("FieldValue"))
    case 4: self = .bytes(try reader.data("FieldValue"))
    case 5: self = .timestamp(try reader.value())
    case 6:
      self = .reference(recordName: try reader.text("FieldValue"), zone: try reader.optional())
    case 7:
      self = .location(
        latitude: try reader.double("FieldValue"),
        longitude: try reader.double("FieldValue"))
    case 8: self = .asset(try reader.text("FieldValue"))
    case 9:
      guard reader.depth < ByteReader.depthMax else {
        // The writer wrote a list at this depth as an empty one.
        guard try reader.count("FieldValue") == 0 else {
          throw reader.failure(.depth, "FieldValue")
        }
        self = .list([])
        return
      }
      reader.depth += 1
      let values: [FieldValue] = try reader.list()
      reader.depth -= 1
      self = .list(values)
    default: throw reader.failure(.number(UInt64(kind)), "FieldValue")
    }
  }
}
