import Foundation

/// The machine on which the figures were measured.
struct Machine: Codable {
  var cores: Int
  var processor: String
  var memoryGiB: Int
  var system: String
  var kernel: String
  /// The load average of the last minute, which includes the run itself.
  var load: Double

  static func present() -> Machine {
    var loads = [0.0]
    getloadavg(&loads, 1)
    let information = ProcessInfo.processInfo
    return Machine(
      cores: information.activeProcessorCount,
      processor: line("model name", in: "/proc/cpuinfo", separator: ":") ?? "unknown",
      memoryGiB: Int((Double(information.physicalMemory) / 1_073_741_824).rounded()),
      system: line("PRETTY_NAME", in: "/etc/os-release", separator: "=") ?? "unknown",
      kernel: text("/proc/sys/kernel/osrelease"), load: loads[0])
  }

  var summary: String {
    "\(cores) cores of \(processor), \(memoryGiB) GiB, \(system), Linux \(kernel), "
      + "load \(String(format: "%.1f", load))"
  }

  private static func text(_ path: String) -> String {
    // These values only describe the run, so a file that cannot be read counts as empty.
    (try? String(contentsOfFile: path, encoding: .utf8))?
      .trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
  }

  private static func line(_ key: String, in path: String, separator: Character) -> String? {
    for line in text(path).split(separator: "\n") where line.hasPrefix(key) {
      return line.split(separator: separator, maxSplits: 1).last?
        .trimmingCharacters(in: CharacterSet(charactersIn: " \"\t"))
    }
    return nil
  }
}
