package import RelayCore
import RelayEngine

/// The ids that one fold remembered, in order.
struct RememberedList: BlobCoded {
  static var blobVersion: UInt8 { 1 }
  var items: [Remembered]

  func write(to writer: inout ByteWriter) { writer.list(items) }
}

extension RememberedList {
  init(from reader: inout ByteReader) throws(CodingFailure) { self.init(items: try reader.list()) }
}

/// A device's row keeps its address as a blob.
extension Address: BlobCoded {
  package static var blobVersion: UInt8 { 1 }
}
