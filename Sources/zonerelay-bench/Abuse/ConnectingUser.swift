import NIOCore
import NIOPosix

/// A well-behaved user whose device opens a connection for each request, four times a second. The
/// times of its answers include the time to connect.
struct ConnectingUser {
  private(set) var latencies = Latencies()
  private(set) var refusals: [String] = []
  private(set) var slow = 0
  private static let pace = Duration.milliseconds(250)

  mutating func run(
    _ daemon: MeasuredDaemon, group: MultiThreadedEventLoopGroup, for length: Duration
  )
    async
  {
    let request = RequestText.post(
      "/device/1/\(MeasuredDaemon.scope)/notifications/changes",
      token: MeasuredDaemon.userToken(GoodUser.name(0)), body: "{}".utf8)
    let start = ContinuousClock.now
    var due = start
    while due < start + length {
      // A cancellation ends the run.
      guard (try? await ContinuousClock().sleep(until: due)) != nil else { return }
      do {
        let answer = try await LoadExchange.call(request, to: .port(daemon.port), group: group)
        let took = ContinuousClock.now - due
        latencies.add(nanoseconds: Int64(took.inSeconds * 1e9))
        if took > .milliseconds(AbusePhase.slowMilliseconds) { slow += 1 }
        if answer.status != 200 {
          refusals.append("connecting: \(answer.status) \(answer.text.prefix(300))")
        }
      } catch {
        refusals.append("connecting: \(error)")
      }
      due = max(due + Self.pace, .now)
    }
  }
}
