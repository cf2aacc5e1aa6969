/// What all requests to one provider have in common: which header fields they carry, in which
/// order, and which fields of an answer are worth keeping. Fixed when the engine is built, so that
/// a request is nothing but values.
package struct RequestShape: Sendable {
  /// Header fields after the pseudo headers. A request may leave out the value of any of them.
  package var fields: [Field]
  /// Names, in lower case, of the answer's fields to hand back; all others are dropped unread.
  package var kept: [String]
  /// True: one stream at a time until the provider has once answered a request that it must have
  /// authenticated for (APNs asks for this on every new connection).
  package var probation: Bool

  package init(fields: [Field], kept: [String], probation: Bool) {
    self.fields = fields
    self.kept = kept
    self.probation = probation
  }

  package struct Field: Sendable {
    /// In lower case, as HTTP/2 demands.
    package var name: String
    /// True for values that repeat: after the first time they cost one byte. False for values that
    /// are different each time and would only push the others out of the compression table.
    package var repeats: Bool

    package init(_ name: String, repeats: Bool) {
      self.name = name
      self.repeats = repeats
    }
  }
}
