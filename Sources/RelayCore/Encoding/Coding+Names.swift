extension Scope: ByteCoded {
  package func write(to writer: inout ByteWriter) {
    writer.text(container)
    writer.byte(environment.rawValue)
  }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    self.init(container: try reader.text("Scope"), environment: try reader.raw())
  }
}

extension UserID: ByteCoded {
  package func write(to writer: inout ByteWriter) { writer.text(name) }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    self.init(try reader.text("UserID"))
  }
}

extension SubscriptionID: ByteCoded {
  package func write(to writer: inout ByteWriter) { writer.text(name) }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    self.init(try reader.text("SubscriptionID"))
  }
}

extension ZoneID: ByteCoded {
  package func write(to writer: inout ByteWriter) {
    writer.text(name)
    writer.text(owner.name)
  }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    self.init(name: try reader.text("ZoneID"), owner: UserID(try reader.text("ZoneID")))
  }
}

extension Identifier: ByteCoded {
  package func write(to writer: inout ByteWriter) {
    writer.word(high)
    writer.word(low)
  }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    self.init(high: try reader.word("Identifier"), low: try reader.word("Identifier"))
  }
}

extension ClientID: ByteCoded {
  package func write(to writer: inout ByteWriter) { bits.write(to: &writer) }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    self.init(try Identifier(from: &reader))
  }
}

extension Ordinal: ByteCoded {
  /// The largest ordinal that can be stored, because a position has 48 bits for its ordinal. A
  /// larger number in a blob proves that the blob is damaged.
  package static let codedMax = Ordinal(1 << 48 - 1)

  package func write(to writer: inout ByteWriter) { writer.number(number) }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    let number = try reader.number("Ordinal")
    guard number <= Self.codedMax.number else { throw reader.failure(.number(number), "Ordinal") }
    self.init(number)
  }
}

extension Position: ByteCoded {
  package func write(to writer: inout ByteWriter) { writer.number(bits) }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    self.init(bits: try reader.number("Position"))
  }
}

extension PartitionID: ByteCoded {
  package func write(to writer: inout ByteWriter) { writer.number(UInt64(number)) }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    let number = try reader.number("PartitionID")
    guard number < PartitionID.count else {
      throw reader.failure(.number(number), "PartitionID")
    }
    self.init(Int(number))
  }
}

extension Instant: ByteCoded {
  package func write(to writer: inout ByteWriter) { writer.signed(milliseconds) }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    self.init(milliseconds: try reader.signed("Instant"))
  }
}

extension Address: ByteCoded {
  package func write(to writer: inout ByteWriter) {
    writer.byte(transport.rawValue)
    writer.text(topic)
    writer.data(token)
    writer.flag(environment != nil)
    if let environment { writer.byte(environment.rawValue) }
  }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    self.init(
      transport: try reader.raw(), topic: try reader.text("Address"),
      token: try reader.data("Address"),
      environment: try reader.flag("Address") ? try reader.raw() : nil)
  }
}
