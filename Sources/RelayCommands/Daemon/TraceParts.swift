import Logging
import RelayCore
import RelayEngine
import RelayHTTP
import RelayTrace

/// The parts that keep and show what the relay decided: the flight recorder, the feed that
/// `zonerelay tail` follows, and the answers to operators.
struct TraceParts {
  let feed: TraceFeed
  let admin: AdminAPI.Trace

  init(
    _ settings: Settings, keys: any IdentityKeys & PushKeys, clock: any ClockReader, logger: Logger
  ) {
    let directory = settings.store.directory
    var recorder: FileRecorder?
    if settings.trace.isOn {
      recorder = FileRecorder(
        directory: directory, bytes: settings.trace.bytes, clock: clock, logger: logger)
    } else if FileRecorder.remove(from: directory) {
      logger.notice("the trace is off, and its file is removed")
    }
    feed = TraceFeed(recorder: recorder)
    admin = AdminAPI.Trace(feed: feed, keys: keys)
  }

  /// Writes the entries that wait, and closes the recorder. The engine must have ended before this
  /// call.
  func close() async { await feed.recorder?.close() }
}
