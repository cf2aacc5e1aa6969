/// The contents of a secret file, without its final newline.
///
/// Every printed form of a secret shows only the file's path and size.
package struct Secret: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  package let path: String
  package let bytes: [UInt8]

  /// The contents as text; invalid UTF-8 is replaced.
  package var text: String { String(decoding: bytes, as: UTF8.self) }

  package var description: String { "\(path) (\(bytes.count) bytes, masked)" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: ["path": path]) }
}
