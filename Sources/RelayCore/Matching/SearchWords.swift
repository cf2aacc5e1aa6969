/// Token search: a text's words are its runs of letters and digits, compared without regard to
/// case. Marks belong to the letter before them, so that `é` is one letter however it is written.
enum SearchWords {
  /// A text's words, in lower case, each added once.
  static func add(_ text: String, to words: inout Set<String>) {
    each(of: text) { words.insert($0) }
  }

  /// The words of a string or of a list of strings, in their order.
  static func ofAll(in value: FieldValue) -> [String] {
    var words: [String] = []
    switch value {
    case .string(let text): each(of: text) { words.append($0) }
    case .list(let values): for value in values { words += ofAll(in: value) }
    default: break
    }
    return words
  }

  private static func each(of text: String, _ body: (String) -> Void) {
    var word = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      if isPart(scalar) {
        word.append(scalar)
      } else if !word.isEmpty {
        body(String(word).lowercased())
        word.removeAll()
      }
    }
    if !word.isEmpty { body(String(word).lowercased()) }
  }

  private static func isPart(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII {
      return ("a"..."z") ~= scalar || ("A"..."Z") ~= scalar || ("0"..."9") ~= scalar
    }
    let properties = scalar.properties
    if properties.isAlphabetic || properties.numericType != nil { return true }
    switch properties.generalCategory {
    case .nonspacingMark, .spacingMark, .enclosingMark: return true
    default: return false
    }
  }
}

extension FieldValue {
  /// Whether there is anything in it that a token search could look for.
  package var hasWords: Bool { !SearchWords.ofAll(in: self).isEmpty }
}
