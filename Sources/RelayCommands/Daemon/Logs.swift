import Logging
import RelaySystem

/// The daemon's logger. With the format `auto` it writes fields to systemd's journal under systemd,
/// text on a terminal, and JSON lines elsewhere.
enum Logs {
  /// Starts the logging. A process may call `start` only once, because the call sets the logging
  /// system of the process. The handle changes the level afterwards.
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
