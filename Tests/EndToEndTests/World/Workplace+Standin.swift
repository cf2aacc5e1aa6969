extension Workplace {
  /// A new workplace whose APNs stand-in is ready and whose configuration is written. `remove` ends
  /// the stand-in as well.
  ///
  /// The parameters are those of `configure`.
  static func withStandin(
    window: String = "500ms", extra: String = "", environment: String = ""
  ) async throws -> (workplace: Workplace, standin: Standin) {
    let workplace = try Workplace()
    do {
      let standin = try await Standin.start(in: workplace)
      try workplace.configure(window: window, extra: extra, environment: environment)
      return (workplace, standin)
    } catch {
      workplace.remove()
      throw error
    }
  }
}
