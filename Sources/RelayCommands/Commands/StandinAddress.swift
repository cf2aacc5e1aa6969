import ArgumentParser
import Logging
import RelayStandin
import ServiceLifecycle
import UnixSignals

/// What the stand-ins' commands share: the check of the address, and a normal end on a signal.
enum StandinAddress {
  /// - Throws: `ValidationError` if the text is no address, or no loopback address.
  @discardableResult
  static func read(_ text: String) throws -> ListenAddress {
    guard let address = ListenAddress(text: text) else {
      throw ValidationError("--listen is no address: \(text); write host:port")
    }
    // A stand-in is for tests and demonstrations only, so other machines must not reach it.
    guard address.isLoopback else {
      throw ValidationError("--listen is no loopback address: \(text); write 127.0.0.1:port")
    }
    return address
  }

  /// Serves until SIGTERM or SIGINT.
  static func serve(
    _ standin: some ServedStandin, on address: ListenAddress, _ console: Console
  ) async throws -> ExitStatus {
    console.talk(line: "zonerelay: the stand-in listens on \(address.host):\(standin.port)")
    console.answer(line: "ready")
    let group = ServiceGroup(
      services: [standin], cancellationSignals: [.sigterm, .sigint],
      logger: Logger(label: "zonerelay.standin") { _ in SwiftLogNoOpLogHandler() })
    do {
      try await group.run()
    } catch is CancellationError {
      // A signal ended the stand-in: this is its normal end.
    }
    return .done
  }
}

/// A stand-in as a service of its command.
protocol ServedStandin: Service {
  /// The port that the stand-in listens on.
  var port: Int { get }
}

extension APNsStandin: ServedStandin {}
extension FCMStandin: ServedStandin {}
extension WebPushStandin: ServedStandin {}
