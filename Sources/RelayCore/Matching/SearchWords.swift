/// Token search: a text's words are its runs of letters and digits of any script, compared without
/// regard to case. Marks belong to the letter before them, and all encodings of `é` are one letter.
/// Everywhere else texts are compared by their code points.
enum SearchWords {
  /// A word in lower case. Its hash is computed once, because Swift takes long to compare texts
  /// that have several spellings.
  struct Word: Hashable, Sendable {
    let text: String
    private let hash: Int

    init(_ text: String) {
      self.text = text.lowercased()
      hash = self.text.hashValue
    }

    static func == (left: Word, right: Word) -> Bool {
      guard left.hash == right.hash else { return false }
      return ByteOrdered.areSame(left.text, right.text) || left.text == right.text
    }

    func hash(into hasher: inout Hasher) { hasher.combine(hash) }
  }

  /// The most bytes of a word. A longer run of letters is not a word: a letter may carry thousands
  /// of combining marks, and Swift takes long to compare such letters.
  static let wordBytesMax = 255

  /// Adds a text's words, each once.
  static func add(_ text: String, to words: inout Set<Word>) {
    each(of: text) { words.insert($0) }
  }

  /// The words of a string or of a list of strings, in their order.
  static func ofAll(in value: FieldValue) -> [Word] {
    var words: [Word] = []
    switch value {
    case .string(let text): each(of: text) { words.append($0) }
    case .list(let values): for value in values { words += ofAll(in: value) }
    default: break
    }
    return words
  }

  private static func each(of text: String, _ body: (Word) -> Void) {
    guard text.utf8.allSatisfy({ $0 < 0x80 }) else { return eachOfAnyScript(of: text, body) }
    var text = text
    text.withUTF8 { bytes in
      var start = 0
      for place in 0...bytes.count {
        if place < bytes.count, isPart(Unicode.Scalar(bytes[place])) { continue }
        let run = bytes[start..<place]
        start = place + 1
        guard 1...wordBytesMax ~= run.count else { continue }
        body(Word(String(decoding: UnsafeBufferPointer(rebasing: run), as: UTF8.self)))
      }
    }
  }

  private static func eachOfAnyScript(of text: String, _ body: (Word) -> Void) {
    let scalars = text.unicodeScalars
    var start: String.Index?
    func end(_ place: String.Index) {
      guard let first = start else { return }
      start = nil
      let run = text[first..<place]
      if run.utf8.count <= wordBytesMax { body(Word(String(run))) }
    }
    for place in scalars.indices {
      if isPart(scalars[place]) {
        start = start ?? place
      } else {
        end(place)
      }
    }
    end(text.endIndex)
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
  /// Whether the value has any word that a token search could find.
  package var hasWords: Bool { !SearchWords.ofAll(in: self).isEmpty }
}
