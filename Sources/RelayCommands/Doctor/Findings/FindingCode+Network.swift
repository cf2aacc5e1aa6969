extension FindingCode {
  static let hostUnknown = FindingCode(
    "host_unknown", .network, "the name of a server has no address",
    remedy: "correct the name in the configuration, or the machine's DNS: resolvectl query NAME")
  static let serverUnreachable = FindingCode(
    "server_unreachable", .network, "a server does not take connections",
    remedy: "start that server, correct its address, or let a firewall pass the connection out")
  static let serverUntrusted = FindingCode(
    "server_untrusted", .network, "no secure connection to a server can be made",
    remedy: "correct the name or trustRoots of that server, renew its certificate, or install "
      + "the system's authorities: apt-get install ca-certificates")
  static let keysUnusable = FindingCode(
    "keys_unusable", .network, "the account server gives no keys of users",
    remedy: "correct users.jwks, or the key set at that address: it lists keys for ES256, RS256 "
      + "or EdDSA")
  static let publicURLElsewhere = FindingCode(
    "public_url_elsewhere", .network, isWarning: true,
    "server.publicURL does not lead from here to this relay",
    remedy: "correct server.publicURL, or the proxy behind it; if only this machine cannot reach "
      + "that address, there is nothing to do")
  static let originRefused = FindingCode(
    "origin_refused", .network, "the daemon refuses pages of an origin that is listed",
    remedy: "reload the daemon (systemctl reload zonerelay); behind a proxy, let it pass OPTIONS "
      + "and the field Origin unchanged")
}
