/// A closed list of cases that have names on the wire. Names are compared byte by byte.
package protocol Named: CaseIterable {
  var name: String { get }
}

extension Named {
  package init?(name: String) {
    guard let known = Self.allCases.first(where: { ByteOrdered.areSame($0.name, name) }) else {
      return nil
    }
    self = known
  }
}
