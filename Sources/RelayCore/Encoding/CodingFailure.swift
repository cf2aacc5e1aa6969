/// The bytes are not what this version writes: they are damaged, cut off, or of a newer version.
///
/// The blob cannot be used. The caller, which knows the row of the blob, names the row.
package struct CodingFailure: Error, Hashable, Sendable, CustomStringConvertible {
  package enum What: Hashable, Sendable {
    /// The bytes end within a value.
    case truncated
    /// Bytes follow the end of the value.
    case trailing
    /// A version byte that this version does not know.
    case version(UInt8)
    /// A number that is no case of its enum, or that is out of range.
    case number(UInt64)
    /// A floating-point number that is infinite or NaN.
    case notFinite
    /// Text that is not UTF-8.
    case text
    /// Lists that are nested deeper than `ByteReader.depthMax`.
    case depth
  }

  package var what: What
  /// The name of the type that the reader was reading when it failed.
  package var part: String
  /// Offset of the byte at which reading stopped.
  package var offset: Int

  package var description: String {
    let reason =
      switch what {
      case .truncated: "the bytes end too early"
      case .trailing: "bytes follow the end"
      case .version(let version): "version \(version) is not known here"
      case .number(let number): "\(number) is out of range"
      case .notFinite: "the floating-point number is infinite, or none"
      case .text: "the text is not UTF-8"
      case .depth: "lists are nested too deeply"
      }
    return "\(part) at byte \(offset): \(reason)"
  }
}
