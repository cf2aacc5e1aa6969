import Logging
import RelaySystem

/// The daemon's logger. It writes to the journal with fields under systemd, and text or JSON lines
/// elsewhere.
enum Logs {
  /// Call it once: it sets the process's logging system. The handle changes the level afterwards.
  static func start(_ settings: Settings.Log) -> (Logger, LogLevelHandle) {
    let output: LogOutput =
      switch settings.format {
      case .auto: .detected()
      case .text: .text
      case .json: .json
      }
    let levelHandle = LogLevelHandle(settings.level)
    LoggingSystem.bootstrap { output.handler(label: $0, levelHandle: levelHandle) }
    return (Logger(label: "zonerelay"), levelHandle)
  }
}
