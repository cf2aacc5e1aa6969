/// A value with a compact form in bytes, coded by hand without reflection or field names. A form
/// that a store may hold never changes; a new form gets a new version byte in its blob.
package protocol ByteCoded {
  func write(to writer: inout ByteWriter)
  init(from reader: inout ByteReader) throws(CodingFailure)
}

/// A value that is stored in a blob of its own, behind a version byte.
package protocol BlobCoded: ByteCoded {
  static var blobVersion: UInt8 { get }
}

extension BlobCoded {
  package var blob: [UInt8] {
    var writer = ByteWriter(capacity: 256)
    writer.byte(Self.blobVersion)
    write(to: &writer)
    return writer.bytes
  }

  /// - Throws: `CodingFailure` unless the bytes are exactly one value of a known version.
  package init(blob: [UInt8]) throws(CodingFailure) {
    var reader = ByteReader(blob)
    let version = try reader.byte("blob")
    guard version == Self.blobVersion else {
      throw reader.failure(.version(version), "\(Self.self)")
    }
    self = try Self(from: &reader)
    guard reader.remaining == 0 else { throw reader.failure(.trailing, "\(Self.self)") }
  }
}

extension ByteReader {
  /// Reads a case of an enum that is stored as its raw value.
  package mutating func raw<Value: RawRepresentable<UInt8>>() throws(CodingFailure) -> Value {
    let number = try byte("enum")
    guard let value = Value(rawValue: number) else {
      throw failure(.number(UInt64(number)), "\(Value.self)")
    }
    return value
  }
}
