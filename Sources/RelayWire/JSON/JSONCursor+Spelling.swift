extension JSONCursor {
  /// Refuses a member whose name is one of `names` in another spelling.
  ///
  /// Members with unknown names are ignored. A known member in another spelling is not ignored,
  /// because the request would then do something else than the sender wants, without an error.
  ///
  /// Does nothing if this value is not an object.
  ///
  /// - Throws: an error about the first such member, which gives the right name.
  package func refuseOtherSpellings(of names: [StaticString]) throws(JSONProblem) {
    guard node.kind == .object else { return }
    let end = Int(node.extent)
    var member = index + 1
    while member < end {
      if !names.contains(where: { tree.isKey(at: member, $0) }) {
        let text = tree.text(at: member)
        if let name = names.first(where: { OtherSpelling.isOne(text, of: $0) }) {
          throw JSONCursor(tree: tree, index: member + 1).problem("is unknown; write \(name)")
        }
      }
      member = tree.next(after: member + 1)
    }
  }
}

/// Another spelling of a name, which differs from the name only in case or in the characters `_`
/// and `-`: `clientID` and `client_id` are other spellings of `clientId`.
package enum OtherSpelling {
  /// True if `text` differs from `name` in nothing but the case of ASCII letters, or `_` and `-`.
  package static func isOne(_ text: String, of name: StaticString) -> Bool {
    let known = UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
    guard text.utf8.count >= known.count, !text.utf8.elementsEqual(known) else { return false }
    return letters(text.utf8).elementsEqual(letters(known))
  }

  private static func letters(
    _ text: some Sequence<UInt8>
  ) -> some Sequence<UInt8> {
    text.lazy.filter { $0 != UInt8(ascii: "_") && $0 != UInt8(ascii: "-") }
      .map { (UInt8(ascii: "A")...UInt8(ascii: "Z")) ~= $0 ? $0 | 0x20 : $0 }
  }
}
