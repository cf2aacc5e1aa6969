import RelayCore
import RelayEngine

/// The ids that one fold remembered, in order.
struct RememberedList: BlobCoded {
  static var blobVersion: UInt8 { 1 }
  var items: [Remembered]

  init(_ items: [Remembered]) { self.items = items }

  func write(to writer: inout ByteWriter) { writer.list(items) }

  init(from reader: inout ByteReader) throws(CodingFailure) { items = try reader.list() }
}

/// An address as a device's row keeps it.
struct AddressBody: BlobCoded {
  static var blobVersion: UInt8 { 1 }
  var address: Address

  init(_ address: Address) { self.address = address }

  func write(to writer: inout ByteWriter) { writer.value(address) }

  init(from reader: inout ByteReader) throws(CodingFailure) { address = try reader.value() }
}
