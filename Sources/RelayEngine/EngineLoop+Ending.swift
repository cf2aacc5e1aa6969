import Logging
import RelayCore

extension EngineLoop {
  /// Answers all requests under way with an error when the daemon ends; a client that repeats its
  /// request gets the outcome.
  mutating func close() {
    for (_, request) in requests.sorted(by: { $0.key < $1.key }) {
      request.answer?(.failure(.draining))
    }
    requests = [:]
  }

  /// Writes the last cut after a clean stop.
  mutating func writeLastCut(_ leases: [Lease]) async {
    guard isStopped else { return }
    guard let lastCut else {
      return logger.warning(
        "stopped without the last fold",
        metadata: ["reason": "facts wait to be stepped, or a fold failed"])
    }
    do throws(StoreError) {
      _ = try await store.fold(lastCut, leases: leases)
    } catch {
      logger.warning("stopped without the last fold", metadata: ["error": "\(error)"])
    }
  }
}
