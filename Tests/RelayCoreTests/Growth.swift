/// Compares the time of the same work beside few and beside many items. Work for a few items must
/// not visit all the other items, so both times must be about equal.
enum Growth {
  /// The time of `work` beside `many` items, divided by its time beside `few`. Each time is the
  /// best of three runs, so that a busy machine has little influence.
  static func factor<State>(
    from few: Int, to many: Int, _ make: (Int) -> State, _ work: (inout State) -> Void
  ) -> Double {
    let times = [few, many].map { count in
      let state = make(count)
      return (0..<3).map { _ in
        var copy = state
        // The cost of a copy's first change is no part of the work.
        work(&copy)
        return ContinuousClock().measure { work(&copy) }
      }.min()!
    }
    return times[1] / times[0]
  }
}
