import RelayEngine
import ServiceLifecycle

/// The engine as a part of the daemon: told to stop, it ends what is under way first.
struct EngineService: Service {
  let engine: Engine

  func run() async throws {
    let (loop, commits, folds) = (EngineThread(), EngineThread(), EngineThread())
    try await withGracefulShutdownHandler {
      try await withTaskExecutorPreference(loop) {
        try await engine.run(commits: commits, folds: folds)
      }
    } onGracefulShutdown: {
      engine.stop()
    }
  }
}
