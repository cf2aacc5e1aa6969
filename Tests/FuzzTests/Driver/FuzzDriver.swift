#if FUZZING
  import Foundation

  /// Runs one parser under libFuzzer, which chooses inputs by the code that they reach:
  /// `zonerelay-fuzz PARSER [libFuzzer's own arguments]`. `zonerelay-fuzz seeds PARSER DIRECTORY`
  /// writes the first inputs, and `DIRECTORY.dict`. See `.ci/fuzz`.
  @main
  struct FuzzDriver {
    static func main() throws {
      let arguments = CommandLine.arguments
      if arguments.count == 4, arguments[1] == "seeds",
        let parser = FuzzedParser.all.first(where: { $0.name == arguments[2] })
      {
        return try layOut(parser, in: arguments[3])
      }
      var own = arguments.dropFirst()
      // To merge inputs, libFuzzer starts this program again, and passes only libFuzzer's
      // arguments. The new process finds the parser's name in the environment.
      var name = getenv(variable).map { String(cString: $0) }
      if let first = own.first, FuzzedParser.all.contains(where: { $0.name == first }) {
        setenv(variable, first, 1)
        name = first
        own = own.dropFirst()
      }
      chosen = FuzzedParser.all.first { $0.name == name }
      guard chosen != nil else {
        print(FuzzedParser.all.map(\.name).joined(separator: "\n"))
        exit(own.isEmpty ? 0 : 64)
      }
      var words = ([arguments[0]] + own).map { strdup($0) } + [nil]
      var count = Int32(words.count - 1)
      words.withUnsafeMutableBufferPointer { buffer in
        var base = buffer.baseAddress
        exit(
          runFuzzer(&count, &base) { readOne($0, $1) })
      }
    }

    private static let variable = "ZONERELAY_FUZZ_PARSER"

    private static func layOut(_ parser: FuzzedParser, in directory: String) throws {
      let folder = URL(fileURLWithPath: directory)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      for (index, seed) in parser.seeds.enumerated() {
        try Data(seed).write(to: folder.appendingPathComponent("seed-\(index)"))
      }
      // libFuzzer refuses a dictionary that is empty.
      var text = "# words of \(parser.name)\n"
      for word in parser.words {
        let escaped = word.utf8.map { byte in
          "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        text += "\"\(escaped.joined())\"\n"
      }
      try Data(text.utf8).write(to: URL(fileURLWithPath: directory + ".dict"))
    }

    /// Set once, before libFuzzer starts.
    nonisolated(unsafe) fileprivate static var chosen: FuzzedParser?
  }

  /// libFuzzer's library does not link without a function of this name: the library's own main
  /// function, which this program does not use, calls the function.
  @_cdecl("LLVMFuzzerTestOneInput")
  package func readOne(_ bytes: UnsafePointer<UInt8>?, _ length: Int) -> Int32 {
    do throws(FuzzedParser.Defect) {
      try FuzzDriver.chosen?.read(Array(UnsafeBufferPointer(start: bytes, count: length)))
    } catch {
      // libFuzzer reports an input, and saves it as a failure, only if the input ends the process.
      fatalError("\(FuzzDriver.chosen?.name ?? ""): \(error.reason)")
    }
    return 0
  }

  /// libFuzzer's entry for programs with a main function of their own.
  @_silgen_name("LLVMFuzzerRunDriver")
  private func runFuzzer(
    _ count: UnsafeMutablePointer<Int32>,
    _ words: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
    _ read: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
  ) -> Int32
#endif
