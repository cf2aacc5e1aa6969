import Synchronization

/// The way to the other of Apple's environments. Most routes never need it, so nothing is opened
/// before the first push that goes there.
final class OtherEnvironment: Sendable {
  private let engine: PushEngine
  private let calls: AsyncStream<Void>
  private let call: AsyncStream<Void>.Continuation
  private let refusal = Mutex<String?>(nil)

  init(_ engine: PushEngine) {
    self.engine = engine
    (calls, call) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
  }

  /// The engine, which is connecting by now.
  func needed() -> PushEngine {
    call.yield()
    return engine
  }

  /// Whether our credential is refused there as it was not before. Remembers it; nil: it was taken.
  func isNew(refusal word: String?) -> Bool {
    refusal.withLock { refusal in
      defer { refusal = word }
      return word != nil && refusal != word
    }
  }

  /// Until the task is cancelled. Call it once.
  func run() async {
    for await _ in calls { break }
    // Cancelled before anybody called, it opens nothing and answers what came too late.
    await engine.run()
  }
}
