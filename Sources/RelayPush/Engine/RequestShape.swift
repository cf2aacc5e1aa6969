/// What all requests to one provider have in common: their header fields in order, and which header
/// fields of an answer the engine keeps. The shape is fixed when the engine is built, so that a
/// request holds only values.
package struct RequestShape: Sendable {
  /// Header fields after the pseudo headers. A request may leave out the value of any of them.
  package var fields: [Field]
  /// Names, in lower case, of the answer's fields to return; all other fields are dropped unread.
  package var kept: [String]
  /// True if a new connection may use only one stream at a time, until an answer proves that the
  /// provider has accepted our credential. APNs requires this.
  package var probation: Bool

  package struct Field: Sendable {
    /// In lower case, as HTTP/2 demands.
    package var name: String
    /// True for values that repeat: after the first time they cost one byte. False for values that
    /// differ each time: they would only evict other values from the compression table.
    package var repeats: Bool

    package init(_ name: String, repeats: Bool) {
      self.name = name
      self.repeats = repeats
    }
  }
}
