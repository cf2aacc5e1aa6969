package import RelayCore

extension Forwarded: ByteCoded {
  package func write(to writer: inout ByteWriter) {
    writer.value(source)
    writer.value(serial)
    writer.value(message)
  }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    self.init(
      source: try reader.value(), serial: try reader.value(), message: try reader.value())
  }
}

extension Forwarded.Message: BlobCoded {
  package static var blobVersion: UInt8 { 1 }

  package func write(to writer: inout ByteWriter) {
    switch self {
    case .change(let change, let position):
      writer.byte(1)
      writer.value(change)
      writer.value(position)
    case .displaced(let displacement):
      writer.byte(2)
      writer.value(displacement.device.scope)
      writer.value(displacement.device.user)
      writer.value(displacement.device.client)
      writer.value(displacement.registration)
    case .interests(let interests):
      writer.byte(3)
      writer.list(interests)
    }
  }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    let kind = try reader.byte("Forwarded.Message")
    switch kind {
    case 1: self = .change(try reader.value(), at: try reader.value())
    case 2:
      let device = DeviceKey(
        scope: try reader.value(), user: try reader.value(), client: try reader.value())
      self = .displaced(Displacement(device: device, registration: try reader.value()))
    case 3: self = .interests(try reader.list())
    default: throw reader.failure(.number(UInt64(kind)), "Forwarded.Message")
    }
  }
}

extension Interest: ByteCoded {
  package func write(to writer: inout ByteWriter) {
    writer.value(key.scope)
    writer.byte(key.database.rawValue)
    writer.text(key.recordType)
    writer.value(fields)
  }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    let key = Interest.Key(
      scope: try reader.value(), database: try reader.raw(),
      recordType: try reader.text("Interest"))
    self.init(key: key, fields: try reader.value())
  }
}

extension Interest.Fields: BlobCoded {
  package static var blobVersion: UInt8 { 1 }

  package func write(to writer: inout ByteWriter) {
    switch self {
    case .ended: writer.byte(0)
    case .all: writer.byte(1)
    case .named(let names):
      writer.byte(2)
      writer.texts(names)
    }
  }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    let kind = try reader.byte("Interest.Fields")
    switch kind {
    case 0: self = .ended
    case 1: self = .all
    case 2: self = .named(try reader.texts("Interest.Fields"))
    default: throw reader.failure(.number(UInt64(kind)), "Interest.Fields")
    }
  }
}

extension FanOut: BlobCoded {
  package static var blobVersion: UInt8 { 1 }

  package func write(to writer: inout ByteWriter) {
    writer.value(origin)
    writer.value(change)
    writer.value(zonePosition)
    writer.value(cursor)
    writer.value(since)
    writer.optional(turn)
  }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    self.init(
      origin: try reader.value(), change: try reader.value(), zonePosition: try reader.value(),
      cursor: try reader.value(), since: try reader.value())
    turn = try reader.optional()
  }
}
