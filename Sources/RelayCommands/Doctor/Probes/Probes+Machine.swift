import Foundation
import NIOCore
import RelayCore
import RelayKeys
import RelayStore
import RelaySystem

/// Looks at this machine: files, clocks, limits, disk, store and addresses.
extension Probes {
  var files: FilesEvidence {
    let directory = reading.storeDirectory ?? Settings.Store.directoryDefault
    let secrets = (reading.secretFiles + SecretFiles.keys(ofStore: directory)).uniqued
    return FilesEvidence(
      user: daemonUser(directory) ?? .current, secrets: secrets.map { SeenFile.look(at: $0) },
      store: Self.store(in: directory), credentials: options.overrides.credentialsDirectory)
  }

  /// The user of the running daemon, or else the owner of the store's directory, or else the user
  /// who runs the doctor; nil if that user may not see who owns the directory.
  private func daemonUser(_ directory: String) -> SystemUser? {
    if let pid = daemonPID, let user = OtherProcess(pid).user { return user }
    guard let owner = FilePermissions.of(directory) else {
      return Self.isAbsent(directory) ? .current : nil
    }
    return SystemUser(id: owner.owner, primaryGroup: owner.group)
  }

  /// The files and directories that the daemon uses in its store's directory, each with the rights
  /// that the daemon needs.
  private static func store(in directory: String) -> [(SeenFile, FilePermissions.Rights)] {
    let names = ["lock", "relay.db", "journal.db", "relay.db-wal", "journal.db-wal"]
    let files = names.map { ("\(directory)/\($0)", [.read, .write] as FilePermissions.Rights) }
    let folders = ["", "/keys", "/provider-tokens"].map {
      (directory + $0, [.read, .write, .enter] as FilePermissions.Rights)
    }
    guard isOpen(directory) else {
      return [(SeenFile(path: directory, permissions: nil, above: nil), [.read, .write])]
    }
    // The daemon makes the files that are missing, so only existing files are looked at.
    return (folders + files).filter { FileManager.default.fileExists(atPath: $0.0) }
      .map { (SeenFile.look(at: $0.0), $0.1) }
  }

  /// False if this user may not look into a directory that exists, or that may exist.
  private static func isOpen(_ directory: String) -> Bool {
    isAbsent(directory) || access(directory, R_OK | X_OK) == 0
  }

  /// True if it is certain that no such file exists. False also if a directory above is closed to
  /// this user, because then nothing is certain.
  private static func isAbsent(_ path: String) -> Bool {
    access(path, F_OK) != 0 && [ENOENT, ENOTDIR].contains(errno)
  }

  var clockEvidence: ClockEvidence {
    // A store that cannot be read has no time; the look at the store says why.
    let description = try? reading.storeDirectory.flatMap { try StoreDescription(of: $0) }
    return ClockEvidence(wall: now, relayTime: description?.time, isRunning: daemonPID != nil)
  }

  var limits: LimitsEvidence? {
    guard let settings else { return nil }
    let ofDaemon = daemonPID.flatMap { OtherProcess($0).openFilesMax }
    let most = ofDaemon ?? FileLimit.most
    return LimitsEvidence(
      misfit: settings.misfit(files: most), most: most, daemon: ofDaemon == nil ? nil : daemonPID)
  }

  var disk: DiskEvidence? {
    guard let directory = reading.storeDirectory else { return nil }
    let parent = URL(fileURLWithPath: directory).deletingLastPathComponent().path
    let place = Self.isAbsent(directory) ? parent : directory
    let user = Int(geteuid())
    return DiskEvidence(
      directory: place, trial: DiskTrial.run(in: place),
      isDaemonUser: user == 0 || user == daemonUser(directory)?.id)
  }

  var store: StoreEvidence? {
    guard let directory = reading.storeDirectory else { return nil }
    var evidence = StoreEvidence(
      directory: directory, refusals: reading.storeFileProblems,
      hasKey: FileManager.default.fileExists(atPath: "\(directory)/keys/1.key"))
    guard Self.isOpen(directory) else {
      evidence.isClosed = true
      return evidence
    }
    do throws(StoreError) {
      evidence.description = try StoreDescription(of: directory)
    } catch {
      evidence.unreadable = error
    }
    do throws(KeyFailure) {
      let check = try KeyRing.identityCheck(storeDirectory: directory)
      evidence.foreignKey = check.flatMap { SQLiteStore.refusal(of: $0, in: directory) }
    } catch {
      evidence.unusableKey = error
    }
    return evidence
  }

  /// The addresses to listen on. A name that has to be looked up is left out with `--offline`.
  var ports: [PortEvidence] {
    reading.listens.sorted { $0.key < $1.key }.compactMap { key, address in
      guard address.port != 0 else { return nil }
      let actual = key == "server.listen" ? elsewhere : nil
      let isInherited = daemonPID.map { OtherProcess($0).hasInheritedSockets } ?? false
      var outcome: PortEvidence.Outcome
      do {
        let place =
          isOffline
          ? try SocketAddress(ipAddress: address.host, port: address.port)
          : try SocketAddress.makeAddressResolvingHost(address.host, port: address.port)
        outcome = self.outcome(of: Self.take(place), port: address.port)
      } catch {
        // The findings of the configuration report a name that has no address, unless `--offline`
        // forbids to look names up.
        return nil
      }
      if let actual, outcome == .free || isInherited {
        outcome = .elsewhere(actual, isInherited: isInherited)
      }
      return PortEvidence(key: key, address: address, outcome: outcome, isRunning: daemonPID != nil)
    }
  }

  /// Where the running daemon listens for devices and producers in place of `server.listen`: on a
  /// socket of systemd, or at the address of an earlier configuration. Nil if the daemon listens at
  /// `server.listen`, or if this user may not see where the daemon listens.
  var elsewhere: ListenAddress? {
    guard let pid = daemonPID, let listen = reading.listens["server.listen"] else { return nil }
    let metrics = reading.listens["control.metrics"]?.port
    let own = PortHolder.addresses(of: OtherProcess(pid)).filter { $0.port != metrics }
    guard let first = own.first, own.allSatisfy({ $0.port == first.port }),
      first.port != listen.port
    else { return nil }
    return ListenAddress(host: first.host, port: first.port)
  }

  private func outcome(of failure: Int32?, port: Int) -> PortEvidence.Outcome {
    switch failure {
    case nil: return .free
    case EADDRINUSE?: break
    case EADDRNOTAVAIL?: return .foreign
    // The system looks at the right to a low port before it looks whether the port is free.
    case EACCES?, EPERM?: guard PortHolder.isTaken(port: port) else { return .forbidden }
    case let code?: return .failed(String(cString: strerror(code)))
    }
    guard let holder = PortHolder.find(port: port, preferred: daemonPID) else {
      return .taken(.unknown)
    }
    if holder.pid == daemonPID { return .taken(.daemon) }
    let name = holder.name ?? "a program"
    return .taken(name == "systemd" ? .systemd : .other(name: name, pid: holder.pid))
  }

  /// Tries to take an address, without listening on it: no client can connect meanwhile.
  ///
  /// - Returns: the system's error number; nil if the address could be taken.
  private static func take(_ address: SocketAddress) -> Int32? {
    let descriptor = socket(
      address.protocol == .inet6 ? AF_INET6 : AF_INET,
      Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return errno }
    defer { close(descriptor) }
    // The listener sets the same option, so that a connection that is ending does not keep the
    // address.
    var yes: Int32 = 1
    setsockopt(
      descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    return address.withSockAddr { pointer, size in
      bind(descriptor, pointer, socklen_t(size)) == 0 ? nil : errno
    }
  }
}
