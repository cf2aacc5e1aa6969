package import Logging
package import RelayCore
package import RelayHTTP

/// The operator's settings: the configuration file, overridden by the environment and by flags,
/// read once and validated as a whole. Every value in these settings is valid.
///
/// Each part of the daemon gets only the settings that it needs. `config/zonerelay.yaml` is the
/// manual of the keys.
package struct Settings: Sendable {
  package var server = Server()
  package var control = Control()
  package var store = Store()
  /// When the core sends wakes: windows, budgets, retries and the ladder.
  package var wake = WakePolicy()
  /// The time from the start of a push's attempt until its outcome counts as unknown.
  package var attemptTimeout = Span.seconds(10)
  package var retention = Retention()
  package var limits = Limits()
  package var requests = RequestLimits()
  package var trace = Trace()
  package var log = Log()
  /// Containers by environment, in the order of the file. No scope occurs twice.
  package var apps: [App] = []

  package struct Server: Sendable {
    package var listen = ListenAddress(host: "127.0.0.1", port: 8_460)
    /// The API's URL for clients, without a final slash. `nil` means the address that the API
    /// listens on.
    package var publicURL: String?
    /// Keys of 32 bytes each. The first key signs tokens, and every key verifies them. Empty
    /// means that the store's own key does both.
    package var tokenKeys: [Secret] = []
    /// The API's TLS files. `nil` means plain HTTP.
    package var tls: TLSFiles?
  }

  package struct Control: Sendable {
    package static let socketDefault = "/run/zonerelay/control.sock"
    package var socket = Control.socketDefault
    /// The listener for Prometheus text. `nil` means that metrics are on the control socket only.
    package var metrics: ListenAddress?
  }

  package struct Store: Sendable {
    package static let directoryDefault = "/var/lib/zonerelay"
    /// The directory that holds `relay.db`, `journal.db` and `keys/`.
    package var directory = Store.directoryDefault
  }

  package struct Retention: Hashable, Sendable {
    package var notifications = Span.days(30)
    package var tombstones = Span.days(30)
    package var feedback = Span.days(30)

    /// The shortest of the three retention times.
    package var shortest: Span { min(notifications, tombstones, feedback) }
  }

  /// Bounds of requests. `Limits` holds the core's own bounds.
  package struct RequestLimits: Hashable, Sendable {
    package var eventsPerRequest = 1_000
    package var eventBytes = 1 << 20
    package var valuesPerRecord = 100_000
    package var requestBodyBytes = 4 << 20
    /// Bytes of all request bodies that are being read at the same time.
    package var requestBodyBytesInFlight = 256 << 20
    package var connections = 60_000
    /// The most connections from one public address.
    package var connectionsPerAddress = 4_096
    package var writesPerMinute = 12_000
    /// The most failed authentications from one public address. A private or loopback address may
    /// have a hundred times as many, because it may be a proxy of many callers.
    package var failedAuthenticationsPerMinute = 600
    package var inboxChanges = 65_536
    package var inboxBytes = 64 << 20
    package var waitingReaders = 4_096
    package var answerWithin = Span.seconds(20)
  }

  package struct Trace: Hashable, Sendable {
    /// The least size of a flight recorder.
    package static let bytesMin = 1 << 20
    /// The size of the flight recorder's file; 0 means that there is no recorder.
    package var bytes = 64 << 20
    package var isOn: Bool { bytes > 0 }
  }

  package struct Log: Hashable, Sendable {
    package enum Format: String, CaseIterable, Sendable {
      /// Fields in systemd's journal under systemd, text on a terminal, JSON lines elsewhere.
      case auto
      case text, json
    }
    package var level = Logger.Level.info
    package var format = Format.auto
  }
}
