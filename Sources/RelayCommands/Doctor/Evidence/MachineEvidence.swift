import Glibc
import RelaySystem

/// How many files may be open, and whether these are enough for the configuration.
struct LimitsEvidence: Sendable {
  /// The warning of `zonerelay check` that too few files may be open for the configured
  /// connections; nil if enough may be open.
  var misfit: String?
  var most: Int
  /// The pid of the running daemon if its limit was read; nil if the limit of this process was
  /// read.
  var daemon: Int32?

  var finding: Finding {
    let subject = daemon.map { "open files of process \($0)" } ?? "open files of this shell"
    guard let misfit else {
      let count = most == .max ? "any number of" : "\(most)"
      return .passed(.limits, subject, "\(count) files may be open, which suffices")
    }
    let parts = misfit.split(separator: ";", maxSplits: 1)
    return .found(
      .openFilesTooFew, subject, cause: String(parts[0]),
      remedy: parts.count > 1 ? String(parts[1].drop { $0 == " " }) : nil)
  }
}

/// A trial of the disk of the store.
struct DiskEvidence: Sendable {
  var directory: String
  var trial: DiskTrial
  /// True if the doctor runs as root or as the daemon's user. If another user is forbidden to write
  /// into the directory, the daemon's user may still be allowed to write there.
  var isDaemonUser = true

  /// With less free room than this, the disk counts as nearly full, because folds may write this
  /// much before an operator looks at the disk again.
  static let freeLeast: Int64 = 256 << 20
  /// A commit that takes longer delays producers noticeably.
  static let slowAfter = Duration.seconds(2)

  var findings: [Finding] {
    if let failure = trial.failure {
      if !isDaemonUser, [EACCES, EPERM].contains(failure) {
        return [
          .skipped(
            .disk, directory, "this user may not write there", remedy: Finding.otherUser)
        ]
      }
      let code: FindingCode =
        switch failure {
        case ENOSPC, EDQUOT: .diskFull
        case EROFS: .diskReadOnly
        default: .diskUnwritable
        }
      let room = trial.free.map { "; \(HumanFormat.size($0)) are free" } ?? ""
      return [
        .found(code, directory, cause: "a trial could not be written: \(trial.reason)\(room)")
      ]
    }
    let free = trial.free.map { "\(HumanFormat.size($0)) are free" } ?? "its size is unknown"
    var found: [Finding] = []
    if let left = trial.free, left < Self.freeLeast {
      found.append(.found(.diskNearlyFull, directory, cause: free))
    }
    let milliseconds = Int(trial.took / .milliseconds(1))
    if trial.took > Self.slowAfter {
      found.append(
        .found(
          .diskSlow, directory,
          cause: "to bring \(DiskTrial.bytesWritten) bytes to the disk took \(milliseconds) ms"))
    }
    guard found.isEmpty else { return found }
    return [
      .passed(
        .disk, directory, "it can be written, and what is written reaches the disk; \(free)",
        took: trial.took)
    ]
  }
}
