/// One parser of bytes that the daemon does not trust: from the network, or from a disk that may
/// have damaged them. The parser must refuse or read any bytes. A parser fails if it traps, which
/// ends the process, or if it throws a `Defect`: the value that was read is not what the bytes say.
struct FuzzedParser: Sendable, CustomTestStringConvertible {
  let name: String
  /// Whole inputs, from which other inputs are made.
  let seeds: [[UInt8]]
  /// Words of the parser's language, which are inserted at random places.
  let words: [String]
  let read: @Sendable ([UInt8]) throws(Defect) -> Void

  init(
    _ name: String, seeds: [[UInt8]], words: [String] = [],
    read: @escaping @Sendable ([UInt8]) throws(Defect) -> Void
  ) {
    self.name = name
    self.seeds = seeds
    self.words = words
    self.read = read
  }

  init(
    _ name: String, texts: [String], words: [String] = [],
    read: @escaping @Sendable ([UInt8]) throws(Defect) -> Void
  ) {
    self.init(name, seeds: texts.map { Array($0.utf8) }, words: words, read: read)
  }

  var testDescription: String { name }

  /// The error of a parser that does not keep its promise for some bytes.
  struct Defect: Error {
    let reason: String

    /// - Parameters:
    ///   - isKept: whether the parser has kept its promise.
    ///   - reason: how the parser broke its promise.
    static func unless(_ isKept: Bool, _ reason: String) throws(Defect) {
      guard isKept else { throw Defect(reason: reason) }
    }
  }

  static let all: [FuzzedParser] =
    fromCallers + fromProducers + fromDevices + fromProviders
    + providerSessions + fromFiles + fromKeyFiles + fromDisk + fromOperators
}

/// swift-testing's protocol for the name of a test's argument. The protocol is declared here as
/// well, so that the fuzzing program builds without the testing library.
#if FUZZING
  protocol CustomTestStringConvertible { var testDescription: String { get } }
#else
  import Testing
#endif
