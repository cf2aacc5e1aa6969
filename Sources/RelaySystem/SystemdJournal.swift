import CSystemd
import Glibc
import Logging

/// A log line in the format of systemd's journal: `FIELD=value`, names in capitals.
enum SystemdJournal {
  /// The most bytes of a field's name; systemd's journal refuses longer names.
  static let nameBytesMax = 64

  /// Sends a line. If systemd's journal does not run, libsystemd drops the line silently.
  static func send(_ line: LogLine) {
    let texts = fields(line).map { Array("\($0.name)=\($0.value)".utf8) }
    var bytes = Array(texts.joined())
    bytes.withUnsafeMutableBytes { buffer in
      var offset = 0
      let vectors = texts.map { text in
        defer { offset += text.count }
        return iovec(iov_base: buffer.baseAddress?.advanced(by: offset), iov_len: text.count)
      }
      // A line that cannot be sent is dropped, because there is no other place to report it.
      _ = sd_journal_sendv(vectors, Int32(vectors.count))
    }
  }

  static func fields(_ line: LogLine) -> [(name: String, value: String)] {
    var fields = [
      ("MESSAGE", line.sentence), ("PRIORITY", "\(priority(line.level))"),
      ("SYSLOG_IDENTIFIER", "zonerelay"), ("CODE_FILE", line.file), ("CODE_LINE", "\(line.line)"),
      ("CODE_FUNC", line.function), ("ZONERELAY_LOGGER", line.logger),
    ]
    fields += line.fields.map { (name($0.name), $0.value) }
    return fields
  }

  /// A field's name in systemd's journal: `lastError` becomes `ZONERELAY_LAST_ERROR`. Characters
  /// other than letters and digits become underscores.
  static func name(_ key: String) -> String {
    var name = "ZONERELAY_"
    var wasLower = false
    for character in key {
      let isPlain = character.isASCII && (character.isLetter || character.isNumber)
      if character.isUppercase, wasLower { name += "_" }
      name += isPlain ? character.uppercased() : "_"
      wasLower = character.isLowercase || character.isNumber
    }
    return String(name.prefix(nameBytesMax))
  }

  /// The level as a syslog priority.
  static func priority(_ level: Logger.Level) -> Int32 {
    switch level {
    case .trace, .debug: LOG_DEBUG
    case .info: LOG_INFO
    case .notice: LOG_NOTICE
    case .warning: LOG_WARNING
    case .error: LOG_ERR
    case .critical: LOG_CRIT
    }
  }
}
