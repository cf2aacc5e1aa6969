import RelayEngine
import ServiceLifecycle

/// The engine as a part of the daemon: told to stop, it ends what is under way first.
struct EngineService: Service {
  let engine: Engine

  func run() async throws {
    try await withGracefulShutdownHandler {
      try await withTaskExecutorPreference(EngineThread("loop")) {
        try await engine.run(commits: EngineThread("commits"), folds: EngineThread("folds"))
      }
    } onGracefulShutdown: {
      engine.stop()
    }
  }
}
