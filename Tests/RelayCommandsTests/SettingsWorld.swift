import Foundation

@testable import RelayCommands

/// A directory with every file that a configuration names, and a configuration that is good.
struct SettingsWorld {
  let directory: URL

  init() throws {
    directory = FileManager.default.temporaryDirectory
      .appendingPathComponent("zonerelay-settings-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    try write("a shared secret of at least 32 bytes\n", to: "notes-users")
    try write("a-bearer-key-of-at-least-32-characters\n", to: "notes-producer")
    try write("another-bearer-key-of-32-characters-or-more", to: "other-producer")
    try write(Self.providerKey, to: "notes-apns-key")
    try write(Self.providerKey, to: "vapid-key")
    try write(Self.certificate, to: "certificate.pem")
    try write(Self.expiredCertificate, to: "expired.pem")
    try write(Self.otherKey, to: "other-key")
    let hollow = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
    try write(hollow, to: "hollow.pem")
    try write(String(repeating: "0f", count: 32), to: "token-key")
    try write("short", to: "short")
    try write("a bearer key of 32 characters with blanks", to: "blanks")
    try write("no key at all", to: "words")
  }

  func write(_ text: String, to name: String) throws {
    try Data(text.utf8).write(to: directory.appendingPathComponent(name))
  }

  func path(_ name: String) -> String { directory.appendingPathComponent(name).path }

  /// The directory belongs to the test. If it stays behind, the system cleans it.
  func remove() { try? FileManager.default.removeItem(at: directory) }

  func read(
    _ text: String, environment: [String: String] = [:],
    flags: [String: (flag: String, text: String)] = [:]
  ) -> SettingsReading {
    Settings.read(
      text: text, name: "zonerelay.yaml", directory: directory.path,
      overrides: Overrides(environment: environment, flags: flags))
  }

  /// A configuration with `extra` at the top level and `environment` inside development. The text
  /// of `environment` brings its own indentation.
  static func yaml(extra: String = "", environment: String = "") -> String {
    """
    \(extra)
    containers:
      - id: iCloud.com.example.notes
        environments:
          development:
            users: { sharedSecret: notes-users }
            producers: [ { name: records-1, bearer: notes-producer } ]
    \(environment)
    """
  }

  /// A key that was made for these tests and opens nothing.
  static let providerKey = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgUDB8W4dvTJQAbnyo
    mIQrU45OMA47vJDhiZZLXeH3A4ShRANCAARDjXNOvB09Vt6yFvZ37MDSOcBXYjxn
    cXqQ0zdXJ173eKI7MtDCFfuR5SNx4Ihy1m/yPYpbFAMpAXsF0ePWffeH
    -----END PRIVATE KEY-----

    """

  /// A self-signed certificate of `providerKey`.
  static let certificate = """
    -----BEGIN CERTIFICATE-----
    MIIBijCCAS+gAwIBAgIUa7fBSKUF0CQ0bdHoJ55ECJL4x2AwCgYIKoZIzj0EAwIw
    GTEXMBUGA1UEAwwOem9uZXJlbGF5LXRlc3QwIBcNMjYxMTIxMDY0ODAzWhgPMjEy
    NjEwMjgwNjQ4MDNaMBkxFzAVBgNVBAMMDnpvbmVyZWxheS10ZXN0MFkwEwYHKoZI
    zj0CAQYIKoZIzj0DAQcDQgAEQ41zTrwdPVbeshb2d+zA0jnAV2I8Z3F6kNM3Vyde
    93iiOzLQwhX7keUjceCIctZv8j2KWxQDKQF7BdHj1n33h6NTMFEwHQYDVR0OBBYE
    FITFEFk2O2iGMz7GxPmgBkAm27itMB8GA1UdIwQYMBaAFITFEFk2O2iGMz7GxPmg
    BkAm27itMA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSQAwRgIhAJZTt49A
    OpWKMTYb1sdgIsFnniABlyZ7BRm87YSErorAAiEAnYf1z9aQY9TXgvvINfm2wXnx
    K1ifHXNkHuHdOXRoq4E=
    -----END CERTIFICATE-----

    """

  /// A certificate of the same key that was valid only on the first day of 2020.
  static let expiredCertificate = """
    -----BEGIN CERTIFICATE-----
    MIIBHjCBxaADAgECAgEHMAoGCCqGSM49BAMCMBkxFzAVBgNVBAMMDnpvbmVyZWxh
    eS10ZXN0MB4XDTIwMDEwMTAwMDAwMFoXDTIwMDEwMjAwMDAwMFowGTEXMBUGA1UE
    AwwOem9uZXJlbGF5LXRlc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAARDjXNO
    vB09Vt6yFvZ37MDSOcBXYjxncXqQ0zdXJ173eKI7MtDCFfuR5SNx4Ihy1m/yPYpb
    FAMpAXsF0ePWffeHMAoGCCqGSM49BAMCA0gAMEUCIQDwUqGisXF6kazqKhlEX4lY
    rmgIeXKc1znVsB9Z/QKktgIgBU/R0Ftt7ZmiR53J5XXNibEz6M78FlGlIaC4BpZE
    Kjg=
    -----END CERTIFICATE-----

    """

  /// Another key that was made for these tests and opens nothing.
  static let otherKey = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgeya86KE7b+svDIWt
    tDSrTHn4LROa8og1faLNcD5U56GhRANCAAQWac/HCwomvtAob4EgYsM7BFmOALLE
    4m8G+5Siz3DjBTMBptUCANs3GzPsZyB1TKdgnkTaXWe9+C7AVZ9JmaVY
    -----END PRIVATE KEY-----

    """
}
