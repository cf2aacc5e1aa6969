import RelayEngine
import ServiceLifecycle

/// The engine as a part of the daemon: told to stop, it ends what is under way first.
struct EngineService: Service {
  let engine: Engine

  func run() async throws {
    try await withGracefulShutdownHandler {
      try await withTaskExecutorPreference(EngineThread()) {
        try await engine.run(commits: EngineThread(), folds: EngineThread())
      }
    } onGracefulShutdown: {
      engine.stop()
    }
  }
}
