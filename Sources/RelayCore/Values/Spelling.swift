/// Names are compared as they are spelt, byte by byte, as the store does and everybody beyond it.
/// Swift's own comparison takes two Unicode spellings of a text (`é` as one scalar, or as two) for
/// one: then what befalls one record would be told of another.
package enum Spelling {
  package static func areSame(_ left: String, _ right: String) -> Bool {
    // Unequal names are told apart by the comparison that is quick.
    left == right && left.utf8.elementsEqual(right.utf8)
  }

  package static func areSame(_ left: String?, _ right: String?) -> Bool {
    switch (left, right) {
    case (nil, nil): true
    case (let left?, let right?): areSame(left, right)
    default: false
    }
  }

  /// A total order of spellings.
  package static func precedes(_ left: String, _ right: String) -> Bool {
    if left != right { return left < right }
    return left.utf8.lexicographicallyPrecedes(right.utf8)
  }
}
