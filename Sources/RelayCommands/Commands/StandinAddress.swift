import ArgumentParser
import Logging
import ServiceLifecycle
import UnixSignals

/// What the stand-ins' commands share: the check of the address, and a normal end on a signal.
enum StandinAddress {
  static func check(_ text: String) throws {
    guard let address = ListenAddress(text: text) else {
      throw ValidationError("--listen is no address: \(text); write host:port")
    }
    // The stand-in accepts any credential, so other machines must not reach it.
    guard address.isLoopback else {
      throw ValidationError("--listen is no loopback address: \(text); write 127.0.0.1:port")
    }
  }

  static func read(_ text: String) throws -> ListenAddress {
    guard let address = ListenAddress(text: text) else {
      throw Failure(.usage, "--listen is no address: \(text)", hint: "write host:port")
    }
    return address
  }

  /// Serves until SIGTERM or SIGINT.
  static func serve(
    _ address: ListenAddress, port: Int, _ console: Console,
    _ run: @escaping @Sendable () async throws -> Void
  ) async throws -> ExitStatus {
    console.talk(line: "zonerelay: the stand-in listens on \(address.host):\(port)")
    console.answer(line: "ready")
    let group = ServiceGroup(
      services: [Served(serve: run)], cancellationSignals: [.sigterm, .sigint],
      logger: Logger(label: "zonerelay.standin") { _ in SwiftLogNoOpLogHandler() })
    do {
      try await group.run()
    } catch is CancellationError {
      // A signal ended the stand-in: this is its normal end.
    }
    return .done
  }

  private struct Served: Service {
    var serve: @Sendable () async throws -> Void
    func run() async throws { try await serve() }
  }
}
