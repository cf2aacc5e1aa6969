import RelayEngine
import ServiceLifecycle

/// The engine as a service of the daemon: on a graceful shutdown the engine finishes open work
/// first.
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
