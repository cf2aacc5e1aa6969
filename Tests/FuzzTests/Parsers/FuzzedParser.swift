/// One parser of bytes that the daemon does not trust: from the network, or from a disk that may
/// have damaged them. It must refuse or read any bytes; a trap is a defect.
struct FuzzedParser: Sendable, CustomTestStringConvertible {
  let name: String
  /// Whole inputs, from which others are made.
  let seeds: [[UInt8]]
  /// Words of its language, put in at random places.
  let words: [String]
  let read: @Sendable ([UInt8]) -> Void

  init(
    _ name: String, seeds: [[UInt8]], words: [String] = [],
    read: @escaping @Sendable ([UInt8]) -> Void
  ) {
    self.name = name
    self.seeds = seeds
    self.words = words
    self.read = read
  }

  init(
    _ name: String, texts: [String], words: [String] = [],
    read: @escaping @Sendable ([UInt8]) -> Void
  ) {
    self.init(name, seeds: texts.map { Array($0.utf8) }, words: words, read: read)
  }

  var testDescription: String { name }

  static let all: [FuzzedParser] =
    fromProducers + fromDevices + fromProviders + fromDisk + fromOperators
}

/// The protocol of swift-testing that names a test's argument; declared here as well, so that the
/// fuzzing program builds without the testing library.
#if FUZZING
  protocol CustomTestStringConvertible { var testDescription: String { get } }
#else
  import Testing
#endif
