import Foundation
import RelayCore
import UnixSignals
import ZoneRelayClient

/// Phones that run side by side until they end, a time has passed, or the process is interrupted.
struct PhoneRun {
  let phones: [CommandLinePhone]
  let talk: PhoneTalk
  let isOnce: Bool
  let time: Span?

  func run() async throws -> ExitStatus {
    // Without this line, a closed output would end the process before the phones have signed out
    // of the relay.
    signal(SIGPIPE, SIG_IGN)
    let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
    var end = End.interrupted
    do {
      end = try await withThrowingTaskGroup(of: End.self) { group in
        group.addTask { try await runPhones() }
        group.addTask {
          for await _ in signals { break }
          return .interrupted
        }
        if let time {
          group.addTask {
            try await Task.sleep(for: .milliseconds(time.milliseconds))
            return .timeIsOver
          }
        }
        group.addTask {
          while true {
            try await Task.sleep(for: .seconds(5))
            await talk.showTotal()
          }
        }
        // With --once the run ends by itself.
        if !isOnce {
          group.addTask {
            try await talk.untilClosed()
            return .interrupted
          }
        }
        // The task that ends first ends all tasks.
        defer { group.cancelAll() }
        return try await group.next() ?? .interrupted
      }
    } catch is CancellationError {
      // A task that was cancelled by the end of the run has not failed.
    } catch let error as RelayError {
      throw Failure(.failed, "\(error)", hint: hint(error))
    }
    await withTaskGroup(of: Void.self) { group in
      for phone in phones { group.addTask { await phone.end() } }
    }
    await talk.showTotal()
    if isOnce, end == .timeIsOver {
      throw Failure(
        .failed, "not everything was fetched before the time of --for was over",
        hint: "the lines above say what failed; if nothing did, give --for more time")
    }
    return .done
  }

  /// Why a run has ended.
  private enum End { case phonesEnded, timeIsOver, interrupted }

  private func runPhones() async throws -> End {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for phone in phones {
        group.addTask { try await isOnce ? phone.begin() : phone.run() }
      }
      try await group.waitForAll()
    }
    return .phonesEnded
  }

  private func hint(_ error: RelayError) -> String {
    switch error.code {
    case .signedOut: "the token must be signed for this container and not expired"
    case .badState: "name another --state directory, or remove this one"
    default: "docs/client.md explains \(error.code)"
    }
  }
}
