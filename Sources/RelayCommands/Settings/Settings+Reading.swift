import Foundation
import RelayCore
import RelayHTTP

extension Settings {
  /// Reads every key of the file's top level. A wrong value is reported and left at its default.
  init(_ root: Section) {
    self.init()
    server = Self.server(root.section("server"))
    let operators = root.section("control")
    control = Self.control(operators)
    store = Self.store(root.section("store"))
    readWakes(root)
    let kept = root.section("retention")
    let age = ValueParser.span(.seconds(1)...Span.days(3_650))
    kept.read("notifications", age, into: &retention.notifications)
    kept.read("tombstones", age, into: &retention.tombstones)
    kept.read("feedback", age, into: &retention.feedback)
    readLimits(root.section("limits"))
    readTrace(root.section("trace"))
    let logging = root.section("log")
    logging.read("level", .choice, into: &log.level)
    logging.read("format", .choice, into: &log.format)
    apps = Self.apps(root)
    checkListeners(operators)
  }

  private static func server(_ section: Section) -> Server {
    var server = Server()
    section.read("listen", .address, into: &server.listen)
    server.publicURL = section.value("publicURL", .url(schemes: ["https", "http"]))
    server.tokenKeys = section.list("tokenKeys", section.tokenKey) ?? []
    server.tls = section.optionalSection("tls")?.certificateFiles()
    if let wrong = server.tls.flatMap(misfit) { section.report("tls", wrong) }
    return server
  }

  /// Why the API could not use this certificate and key; nil if it can.
  private static func misfit(_ files: CertificateFiles) -> ValueError? {
    do throws(ListenError) {
      _ = try ServerCertificate.Pair(TLSFiles(certificate: files.certificate, key: files.key))
      return nil
    } catch {
      return ValueError(error.description, remedy: error.remedy)
    }
  }

  private static func control(_ section: Section) -> Control {
    var control = Control()
    section.read("socket", section.socketPath, into: &control.socket)
    control.metrics = section.value("metrics", .address)
    return control
  }

  private static func store(_ section: Section) -> Store {
    var store = Store()
    _ = section.value("engine", section.engine, default: "sqlite")
    section.read("directory", section.directoryPath, into: &store.directory)
    return store
  }

  private mutating func readTrace(_ section: Section) {
    section.read("size", .size(0...(4 << 30)), into: &trace.bytes)
    guard trace.isOn, trace.bytes < Trace.bytesMin else { return }
    section.report(
      "size",
      ValueError(
        "\(Quantity.text(bytes: trace.bytes)) is too small for a flight recorder",
        remedy: "make it at least \(Quantity.text(bytes: Trace.bytesMin)), or 0 for none"))
  }

  private func checkListeners(_ section: Section) {
    guard let metrics = control.metrics, metrics.port != 0, metrics == server.listen else { return }
    section.report(
      "metrics",
      ValueError("is the address of server.listen", remedy: "choose another port for the metrics"))
  }
}

extension Section {
  /// A path short enough for a Unix socket's address.
  fileprivate var socketPath: ValueParser<String> {
    let path = path
    return ValueParser(
      read: { text throws(ValueError) in
        let socket = try path.read(text)
        guard socket.utf8.count <= 107 else {
          throw ValueError(
            "\(socket) is longer than 107 bytes, the most that a Unix socket's path may have",
            remedy: "choose a shorter path")
        }
        return socket
      }, show: { $0 })
  }

  /// The path of a directory, which need not exist yet.
  fileprivate var directoryPath: ValueParser<String> {
    let path = path
    return ValueParser(
      read: { text throws(ValueError) in
        let directory = try path.read(text)
        var isDirectory: ObjCBool = false
        if FileManager.default.fileExists(atPath: directory, isDirectory: &isDirectory),
          !isDirectory.boolValue
        {
          throw ValueError("\(directory) is a file", remedy: "name a directory")
        }
        return directory
      }, show: { $0 })
  }

  fileprivate var engine: ValueParser<String> {
    ValueParser(
      read: { text throws(ValueError) in
        switch text {
        case "sqlite": text
        case "postgresql": throw .unsupported("the engine postgresql", instead: "use sqlite")
        default: throw ValueError("'\(text)' is no engine", remedy: "use sqlite")
        }
      }, show: { $0 })
  }
}

extension ValueError {
  /// The error for a value that the configuration may have in principle, but that this version does
  /// not support.
  static func unsupported(_ what: String, instead: String) -> ValueError {
    ValueError("\(what) is not supported by this version", remedy: instead)
  }
}
