import Foundation

/// Finds secret files that too many users of the machine may read.
enum SecretFiles {
  /// A sentence with the remedy for each file that users outside its owner and group may read or
  /// write. A file below a directory that these users may not enter is safe.
  static func warnings(of paths: [String]) -> [String] {
    paths.uniqued.compactMap { path in
      guard let mode = SeenFile.look(at: path).modeOpenToAll else { return nil }
      let octal = String(mode & 0o7777, radix: 8)
      return
        "\(path) holds a secret, and every user may \(mode & 0o002 != 0 ? "write" : "read") it "
        + "(mode 0\(octal)); close it: chmod o-rwx \(path)"
    }
  }

  /// The keys in a store's directory; empty before the first start.
  static func keys(ofStore directory: String) -> [String] {
    // The directory does not exist before the first start, or the process may not read it.
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "\(directory)/keys")) ?? []
    return names.filter { $0.hasSuffix(".key") }.sorted().map { "\(directory)/keys/\($0)" }
  }
}

extension [String] {
  /// The texts without repetitions: only the first of equal texts stays.
  var uniqued: [String] {
    var seen: Set<String> = []
    return filter { seen.insert($0).inserted }
  }
}
