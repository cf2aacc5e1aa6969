/// The contents of a file of secrets, its final newline taken off.
///
/// It shows its path and its size, never itself, however it is printed.
package struct Secret: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  package let path: String
  package let bytes: [UInt8]

  package init(path: String, bytes: [UInt8]) {
    self.path = path
    self.bytes = bytes
  }

  /// The contents as text; bytes that are no UTF-8 are replaced.
  package var text: String { String(decoding: bytes, as: UTF8.self) }

  package var description: String { "\(path) (\(bytes.count) bytes, masked)" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: ["path": path]) }
}
