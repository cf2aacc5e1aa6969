/// Bytes that are not what this version writes: damaged, cut off, or of a newer version.
///
/// Nothing can be done with the blob it names; whoever read it says which row it stood in.
package struct CodingFailure: Error, Hashable, Sendable, CustomStringConvertible {
  package enum What: Hashable, Sendable {
    /// The bytes end within a value.
    case truncated
    /// Bytes follow the end of the value.
    case trailing
    /// A version byte that this version does not know.
    case version(UInt8)
    /// A number that no case of an enum has, or that is out of its range.
    case number(UInt64)
    /// A floating-point number that is infinite, or none.
    case notFinite
    /// Text that is not UTF-8.
    case text
    /// Lists within lists, more than `ByteReader.depthMax`.
    case depth
  }

  package var what: What
  /// The type that was being read.
  package var part: String
  /// Offset of the byte at which reading stopped.
  package var offset: Int

  package init(_ what: What, in part: String, at offset: Int) {
    self.what = what
    self.part = part
    self.offset = offset
  }

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
