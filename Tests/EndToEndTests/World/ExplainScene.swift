import Foundation
import RelayWire
import Testing

/// A daemon with one phone, and a producer.
struct ExplainScene {
  let workplace: Workplace
  let standin: Standin
  var daemon: RunningDaemon
  var phone: Phone
  var producer: Producer

  /// - Parameters:
  ///   - extra: further lines of the configuration.
  ///   - options: options of the stand-in.
  static func start(extra: String = "", options: [String] = []) async throws -> ExplainScene {
    let workplace = try Workplace()
    let standin = try await Standin.start(in: workplace, options)
    try workplace.configure(window: "50ms", extra: "trace: { size: 1MiB }\n\(extra)")
    let daemon = try await RunningDaemon.start(in: workplace)
    let token = String(repeating: "ab", count: 32)
    let phone = Phone(daemon.web, user: "_abc", in: workplace, pushToken: token)
    try await phone.register()
    return ExplainScene(
      workplace: workplace, standin: standin, daemon: daemon, phone: phone,
      producer: Producer(daemon.web, key: workplace.producerKey))
  }

  /// Reports a change of the record and returns the event's id.
  mutating func change(
    _ record: String, zone: String = "Zone", by client: String? = nil
  ) async throws -> String {
    let event = producer.event(
      "created", record: record, zone: zone, user: "_abc", client: client)
    let answer = try await producer.post([event])
    #expect(answer.status == 202, "\(answer.json)")
    return "event-\(producer.count)"
  }

  func run(_ arguments: [String]) async throws -> Program.Ended {
    try await Program.run(arguments + ["--control", workplace.controlSocket], in: workplace)
  }

  /// The answer of `explain --json`, and its exit status.
  func explain(_ arguments: [String]) async throws -> (report: ExplainReport?, status: Int32) {
    let ended = try await run(["explain", "--json"] + arguments)
    guard !ended.output.isEmpty else { return (nil, ended.status) }
    let report = try JSONDecoder().decode(
      ExplainReport.self, from: Data(ended.output.utf8))
    return (report, ended.status)
  }

  /// The result that `explain` gives for the phone and the change with this id.
  func result(of id: String) async throws -> ExplainReport.Result? {
    try await explain(["--change", "/records/api-1", id, "--device", phone.client])
      .report?.changes.last?.devices.first?.result
  }

  /// Waits until the change with this id has this reason, and returns the reason.
  func waits(_ id: String, for code: String) async throws -> ExplainReport.Reason? {
    var last: ExplainReport.Result?
    await #expect(throws: Never.self) {
      try await Pause.until {
        last = try await result(of: id)
        return last?.reason?.code == code
      }
    }
    #expect(last?.reason?.code == code, "\(String(describing: last))")
    return last?.reason
  }

  func hasPush(_ count: Int = 1) async throws -> Bool {
    try await Pause.until {
      try standin.pushes(to: phone.pushToken).count { $0["status"].int == 200 } >= count
    }
  }

  func end() async {
    #expect(await daemon.stop().status == 0)
    workplace.remove()
  }
}
