import RelaySystem

/// The files that the daemon needs, and the user that it runs as.
struct FilesEvidence: Sendable {
  /// The user of the running daemon, or else the owner of the store's directory, or else the user
  /// who runs the doctor.
  var user: SystemUser
  var secrets: [SeenFile]
  /// The store's directory and what is in it, each with the rights that the daemon needs.
  var store: [(file: SeenFile, rights: FilePermissions.Rights)]
  /// The directory in which systemd puts the daemon's credentials; nil if there is none. systemd
  /// reads credentials as root, so the doctor does not check whether the daemon's user may.
  var credentials: String?

  var findings: [Finding] {
    let found = secrets.flatMap(problems) + store.compactMap { problem(of: $0.file, $0.rights) }
    let isGood = !found.contains { $0.result == .failed }
    return found + (isGood ? [summary] : [])
  }

  private var summary: Finding {
    let unknown = (secrets + store.map(\.file)).count { $0.allows(user, []) == nil }
    guard unknown == 0 else {
      return .skipped(
        .files, "owners and modes", "this user may not look at \(unknown) of the files",
        remedy: Finding.otherUser)
    }
    let (own, others) = (secrets.count, store.count)
    return .passed(
      .files, "owners and modes",
      "\(user.name) may read \(own == 1 ? "1 secret" : "\(own) secrets")"
        + (others > 0 ? " and use the store" : ""))
  }

  private func problems(of secret: SeenFile) -> [Finding] {
    var found: [Finding] = []
    let isCredential = credentials.map { secret.path.hasPrefix("\($0)/") } ?? false
    if !isCredential, secret.allows(user, .read) == false {
      found.append(
        .found(
          .secretUnreadable, secret.path, cause: cause(secret, "read"),
          remedy: "as root: chgrp \(user.name) \(secret.path); chmod 0640 \(secret.path); and let "
            + "that group enter its directory"))
    }
    if let mode = secret.modeOpenToAll {
      found.append(
        .found(
          .secretOpen, secret.path, cause: "its mode is 0\(String(mode & 0o7777, radix: 8))",
          remedy: "close it: chmod o-rwx \(secret.path)"))
    }
    return found
  }

  private func problem(of file: SeenFile, _ rights: FilePermissions.Rights) -> Finding? {
    guard file.allows(user, rights) == false else { return nil }
    let isOpen = file.permissions?.allow(user, rights) == true
    return .found(
      .storeClosed, file.path, cause: cause(file, "read and write"),
      remedy: isOpen
        ? "as root: let \(user.name) enter every directory above \(file.path)"
        : "as root: chown \(user.name): \(file.path)")
  }

  private func cause(_ file: SeenFile, _ verb: String) -> String {
    guard let permissions = file.permissions else { return "it cannot be looked at" }
    let mode = String(permissions.mode & 0o7777, radix: 8)
    return "\(user.name) may not \(verb) it: its owner is \(permissions.owner), its group "
      + "\(permissions.group), its mode 0\(mode), and every directory above must be open to "
      + "\(user.name)"
  }
}
