/// A well-behaved user whose device opens a connection for each request, four times a second. The
/// times of its answers include the time to connect.
struct ConnectingUser {
  private(set) var latencies = Latencies()
  private(set) var refusals: [String] = []
  private(set) var slow = 0
  private static let pace = Duration.milliseconds(250)

  /// - Returns: the results of a user that has sent requests for `length`.
  static func run(_ daemon: MeasuredDaemon, for length: Duration) async -> ConnectingUser {
    var user = ConnectingUser()
    let request = RequestText.device(
      "notifications/changes", token: MeasuredDaemon.userToken(GoodUser.name(0)))
    let start = ContinuousClock.now
    var due = start
    while due < start + length {
      // A cancellation ends the run.
      guard (try? await ContinuousClock().sleep(until: due)) != nil else { return user }
      do {
        let answer = try await daemon.call(request)
        let took = ContinuousClock.now - due
        user.latencies.add(nanoseconds: Int64(took.inSeconds * 1e9))
        if took > .milliseconds(AbusePhase.slowMilliseconds) { user.slow += 1 }
        if answer.status != 200 {
          user.refusals.append("connecting: \(answer.status) \(answer.text.prefix(300))")
        }
      } catch {
        user.refusals.append("connecting: \(error)")
      }
      due = max(due + pace, .now)
    }
    return user
  }
}
