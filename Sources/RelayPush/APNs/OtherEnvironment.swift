import Synchronization

/// The connections to Apple's other environment. Most routes never need these connections, so only
/// the first push to that environment opens them.
final class OtherEnvironment: Sendable {
  private let engine: PushEngine
  private let calls: AsyncStream<Void>
  private let call: AsyncStream<Void>.Continuation
  private let refusal = Mutex<String?>(nil)

  init(_ engine: PushEngine) {
    self.engine = engine
    (calls, call) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
  }

  /// The engine for the other environment. The first call makes it connect.
  func needed() -> PushEngine {
    call.yield()
    return engine
  }

  /// True if the other environment refuses our credential for a new reason. Remembers the reason.
  /// `nil` means that the credential was accepted.
  func isNew(refusal word: String?) -> Bool {
    refusal.withLock { refusal in
      defer { refusal = word }
      return word != nil && refusal != word
    }
  }

  /// Runs until the task is cancelled. Call it once.
  func run() async {
    for await _ in calls { break }
    // If the task is cancelled before the first push, the engine opens no connection, and only
    // answers requests that come later.
    await engine.run()
  }
}
