package import RelayCore
import RelayEngine

/// The hashed ids of a partition's changes that one fold writes, in the order of the journal. With
/// them, a repeated change is recognised after a start, too.
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
