import Foundation
import Testing

extension Program {
  /// Runs `zonerelay-bench` to its end.
  ///
  /// - Returns: its figures. A bench that fails is a failed expectation, with what it said.
  static func bench(
    _ arguments: String..., in workplace: Workplace, seconds: Int = 120
  ) async throws -> [JSON] {
    let ended = try await Program(
      arguments + ["--json", "--scratch", workplace.directory.path], in: workplace, name: "bench",
      program: binary.deletingLastPathComponent().appendingPathComponent("zonerelay-bench")
    ).wait(seconds: seconds)
    #expect(ended.status == 0, "\(ended.errors)")
    return JSON(data: Data(ended.output.utf8))["figures"].array
  }
}
