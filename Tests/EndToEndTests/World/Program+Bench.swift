import Foundation
import Testing

extension Program {
  /// Runs `zonerelay-bench` until it exits.
  ///
  /// - Returns: the bench's figures. A bench that fails records a failed expectation with its
  ///   output.
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
