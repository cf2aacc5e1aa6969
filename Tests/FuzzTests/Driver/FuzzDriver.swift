#if FUZZING
  import Foundation

  /// Runs one parser under libFuzzer, which chooses inputs by the code that they reach:
  /// `zonerelay-fuzz PARSER [libFuzzer's own arguments]`. See `.ci/fuzz`.
  @main
  struct FuzzDriver {
    static func main() {
      let arguments = CommandLine.arguments
      let names = FuzzedParser.all.map(\.name)
      guard arguments.count > 1, let index = names.firstIndex(of: arguments[1]) else {
        print(names.joined(separator: "\n"))
        exit(arguments.count > 1 ? 64 : 0)
      }
      chosen = FuzzedParser.all[index]
      var words = ([arguments[0]] + arguments.dropFirst(2)).map { strdup($0) } + [nil]
      var count = Int32(words.count - 1)
      words.withUnsafeMutableBufferPointer { buffer in
        var base = buffer.baseAddress
        exit(
          runFuzzer(&count, &base) { readOne($0, $1) })
      }
    }

    /// Set once, before libFuzzer starts.
    nonisolated(unsafe) fileprivate static var chosen: FuzzedParser?
  }

  /// The name that libFuzzer's own main function would call; it is linked in beside ours.
  @_cdecl("LLVMFuzzerTestOneInput")
  package func readOne(_ bytes: UnsafePointer<UInt8>?, _ length: Int) -> Int32 {
    FuzzDriver.chosen?.read(Array(UnsafeBufferPointer(start: bytes, count: length)))
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
