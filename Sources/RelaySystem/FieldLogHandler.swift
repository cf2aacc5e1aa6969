import Logging

/// Turns the daemon's log calls into lines with fields, for one of the ``LogOutput``s.
struct FieldLogHandler: LogHandler {
  let label: String
  let levelHandle: LogLevelHandle
  let write: @Sendable (LogLine) -> Void
  var metadata: Logger.Metadata = [:]
  var metadataProvider: Logger.MetadataProvider?
  var ownLevel: Logger.Level?

  /// The level of `levelHandle`, unless this logger has a level of its own.
  var logLevel: Logger.Level {
    get { ownLevel ?? levelHandle.level }
    set { ownLevel = newValue }
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    var fields = metadata
    if let provided = metadataProvider?.get() { fields.merge(provided) { $1 } }
    if let given = event.metadata { fields.merge(given) { $1 } }
    if let error = event.error { fields["error"] = "\(error)" }
    write(
      LogLine(
        time: SystemClock().wall(), level: event.level, logger: label,
        message: event.message.description,
        fields: fields.sorted { $0.key < $1.key }.map { ($0.key, $0.value.description) },
        file: event.file, line: event.line, function: event.function))
  }
}
