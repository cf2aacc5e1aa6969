import Foundation

/// The memory that a program uses, in MiB.
enum Memory {
  static func resident(of child: Child) throws -> Double { try line("VmRSS:", of: child) }
  /// The highest resident memory so far; on a kernel that does not record it, the present memory.
  static func most(of child: Child) throws -> Double {
    try (try? line("VmHWM:", of: child)) ?? resident(of: child)
  }

  private static func line(_ key: String, of child: Child) throws -> Double {
    let text = try String(contentsOfFile: "/proc/\(child.pid)/status", encoding: .utf8)
    let line = text.split(separator: "\n").first { $0.hasPrefix(key) }
    let words = line?.split { $0 == " " || $0 == "\t" } ?? []
    guard words.count > 1, let kibibytes = Double(words[1]) else {
      throw BenchError("no \(key) of process \(child.pid)")
    }
    return kibibytes / 1_024
  }
}
