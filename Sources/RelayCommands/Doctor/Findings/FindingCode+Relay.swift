extension FindingCode {
  static let storeRefused = FindingCode(
    "store_refused", .store, "the daemon would refuse the store",
    remedy: "docs/troubleshooting.md explains the code of the cause")
  static let tokenKeyForeign = FindingCode(
    "token_key_foreign", .store, "the store's token key belongs to another store",
    remedy: "put back keys/1.key of this store, which its backups have; without one, move the file "
      + "away: then clients begin anew once")
  static let tokenKeyUnusable = FindingCode(
    "token_key_unusable", .store, "the store's token key cannot be used",
    remedy: "put back keys/1.key of this store, which its backups have")
  static let tokenKeyMissing = FindingCode(
    "token_key_missing", .store, "the store's token key is missing",
    remedy: "put back keys/1.key of this store before the next start, which would make another "
      + "one: then clients begin anew once")

  static let portTaken = FindingCode(
    "port_taken", .port, "another program listens on the relay's address",
    remedy: "stop that program, or change the address in the configuration; look with: ss -ltnp")
  static let addressForeign = FindingCode(
    "address_foreign", .port, "the address to listen on is not one of this machine",
    remedy: "write an address of this machine (ip address), or 0.0.0.0 for all")
  static let portForbidden = FindingCode(
    "port_forbidden", .port, "this user may not listen on the relay's address",
    remedy: "choose a port of 1024 or more, or let zonerelay.socket hold the address")
  static let portNotServed = FindingCode(
    "port_not_served", .port, isWarning: true,
    "the running daemon does not listen on the address of the configuration",
    remedy: "restart the daemon: a new address takes effect at a start")
  static let daemonStopped = FindingCode(
    "daemon_stopped", .daemon, "no daemon answers on the control socket",
    remedy: "start it (systemctl start zonerelay), and look at its log: journalctl -u zonerelay; "
      + "if it runs, name its socket with --control")
  static let daemonSilent = FindingCode(
    "daemon_silent", .daemon, "the daemon cannot be asked over its control socket",
    remedy: "run the doctor as root or as the daemon's user; if it is not that, look at the "
      + "daemon's log: journalctl -u zonerelay")
  static let daemonUnhealthy = FindingCode(
    "daemon_unhealthy", .daemon, "the running daemon is unhealthy",
    remedy: "do what the cause says; docs/troubleshooting.md has a row for it")
}
