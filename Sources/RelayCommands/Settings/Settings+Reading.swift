import Foundation
import RelayCore
import RelayHTTP

extension Settings {
  /// Reads every key of the file. A wrong value is reported, and its setting keeps the default.
  init(_ root: Section) {
    self.init()
    readServer(root.section("server"))
    let operators = root.section("control")
    operators.read("socket", operators.socketPath, into: &control.socket)
    control.metrics = operators.value("metrics", .address)
    let storage = root.section("store")
    _ = storage.value("engine", storage.engine, default: "sqlite")
    storage.read("directory", storage.directoryPath, into: &store.directory)
    readWakes(root)
    let kept = root.section("retention")
    let age = ValueParser.span(.seconds(1)...Span.days(3_650))
    kept.read("notifications", age, into: &retention.notifications)
    kept.read("tombstones", age, into: &retention.tombstones)
    kept.read("feedback", age, into: &retention.feedback)
    let bounds = root.section("limits")
    readRequestLimits(bounds)
    readCoreLimits(bounds)
    readTrace(root.section("trace"))
    let logging = root.section("log")
    logging.read("level", .choice, into: &log.level)
    logging.read("format", .choice, into: &log.format)
    apps = Self.apps(root)
    if let metrics = control.metrics, metrics.port != 0, metrics == server.listen {
      operators.report(
        "metrics", "is the address of server.listen",
        remedy: "choose another port for the metrics")
    }
  }

  private mutating func readServer(_ section: Section) {
    section.read("listen", .address, into: &server.listen)
    server.publicURL = section.value("publicURL", .url(schemes: ["https", "http"]))
    server.tokenKeys = section.list("tokenKeys", section.tokenKey) ?? []
    server.tls = section.optionalSection("tls")?.certificateFiles().map(TLSFiles.init)
    do throws(ListenError) {
      // Find now what the API would refuse at start.
      if let files = server.tls { _ = try ServerCertificate.Pair(files) }
    } catch {
      section.report("tls", error.description, remedy: error.remedy)
    }
  }

  private mutating func readTrace(_ section: Section) {
    section.read("size", .size(0...(4 << 30)), into: &trace.bytes)
    guard trace.isOn, trace.bytes < Trace.bytesMin else { return }
    section.report(
      "size", "\(Quantity.text(bytes: trace.bytes)) is too small for a flight recorder",
      remedy: "make it at least \(Quantity.text(bytes: Trace.bytesMin)), or 0 for none")
  }
}

extension Section {
  /// A path short enough for a Unix socket's address.
  fileprivate var socketPath: ValueParser<String> {
    path.checked { socket throws(ValueError) in
      guard socket.utf8.count <= 107 else {
        throw ValueError(
          "\(socket) is longer than 107 bytes, the most that a Unix socket's path may have",
          remedy: "choose a shorter path")
      }
    }
  }

  /// The path of a directory, which need not exist yet.
  fileprivate var directoryPath: ValueParser<String> {
    path.checked { directory throws(ValueError) in
      if Settings.isDirectory(directory) == false {
        throw ValueError("\(directory) is a file", remedy: "name a directory")
      }
    }
  }

  fileprivate var engine: ValueParser<String> {
    ValueParser.any.checked { text throws(ValueError) in
      guard text != "sqlite" else { return }
      let cause =
        text == "postgresql"
        ? "the engine postgresql is not supported by this version" : "'\(text)' is no engine"
      throw ValueError(cause, remedy: "use sqlite")
    }
  }
}
