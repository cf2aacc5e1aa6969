package import RelayCore

extension Change: ByteCoded {
  package func write(to writer: inout ByteWriter) {
    writer.value(scope)
    writer.byte(database.rawValue)
    writer.value(zone)
    writer.value(event)
    writer.optional(author)
    writer.flag(sequence != nil)
    if let sequence {
      writer.signed(sequence)
      writer.word(origin)
    }
    writer.count(fetchCapacity)
    writer.value(time)
    writer.value(notification)
    writer.word(fingerprint)
  }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    let scope: Scope = try reader.value()
    let database: Database = try reader.raw()
    let zone: ZoneID = try reader.value()
    let event: Change.Event = try reader.value()
    let author: Change.Author? = try reader.optional()
    let isNumbered = try reader.flag("Change")
    self.init(
      scope: scope, database: database, zone: zone, event: event, author: author,
      sequence: isNumbered ? try reader.signed("Change") : nil,
      origin: isNumbered ? try reader.word("Change") : 0,
      fetchCapacity: try reader.fetchCapacity(), time: try reader.value(),
      notification: try reader.value(),
      fingerprint: try reader.word("Change"))
  }
}

extension ByteReader {
  /// Reads how many fetches a second the producer can serve, at most `fetchCapacityMax`.
  fileprivate mutating func fetchCapacity() throws(CodingFailure) -> Int {
    let number = try number("Change")
    guard let capacity = Int(exactly: number), capacity <= Change.fetchCapacityMax else {
      throw failure(.number(number), "Change")
    }
    return capacity
  }
}

extension Change.Event: ByteCoded {
  package func write(to writer: inout ByteWriter) {
    switch self {
    case .record(let record):
      writer.byte(1)
      writer.value(record)
    case .zone(let zone):
      writer.byte(2)
      writer.byte(zone.rawValue)
    case .granted(let user):
      writer.byte(3)
      writer.value(user)
    case .revoked(let user):
      writer.byte(4)
      writer.value(user)
    }
  }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    let kind = try reader.byte("Change.Event")
    switch kind {
    case 1: self = .record(try reader.value())
    case 2: self = .zone(try reader.raw())
    case 3: self = .granted(try reader.value())
    case 4: self = .revoked(try reader.value())
    default: throw reader.failure(.number(UInt64(kind)), "Change.Event")
    }
  }
}

extension Change.Author: ByteCoded {
  package func write(to writer: inout ByteWriter) {
    writer.value(user)
    writer.optional(client)
  }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    self.init(user: try reader.value(), client: try reader.optional())
  }
}

extension RecordChange: ByteCoded {
  package func write(to writer: inout ByteWriter) {
    writer.byte(verb.rawValue)
    writer.text(name)
    writer.text(type)
    writer.text(tag)
    writer.list(fields)
  }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    self.init(
      verb: try reader.raw(), name: try reader.text("RecordChange"),
      type: try reader.text("RecordChange"), tag: try reader.optionalText("RecordChange"),
      fields: try reader.list())
  }
}
