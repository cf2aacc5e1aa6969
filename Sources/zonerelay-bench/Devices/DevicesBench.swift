import ArgumentParser
import Foundation

/// Measures goal S8 (docs/performance.md): the daemon's resident memory for each device after a
/// restart. Each user has one device and three subscriptions.
struct DevicesBench: Measurement {
  static let configuration = CommandConfiguration(
    commandName: "devices", abstract: "S8: memory of a device with three subscriptions.")

  let bench: Workbench
  private var users: Int { bench.options.amount(50_000) }

  func run() async throws -> [Figure] {
    var each: [Double] = []
    for round in 1...(bench.options.pairs ?? 1) {
      each.append(try await measure())
      Talk.line("S8 \(round): \(Int(each[round - 1])) bytes a device")
    }
    return [
      Figure(
        "S8", "resident bytes a device, after a restart", unit: "B", ours: each, floor: 1_024,
        aim: 512)
    ]
  }

  private func measure() async throws -> Double {
    let standin = try await Standin.start(bench)
    let store = try bench.emptyDirectory("devices")
    let empty = try await memory(store, standin)
    let daemon = try await MeasuredDaemon.start(bench, apns: standin.route, store: store)
    try await Enrolment.run(0..<users, on: daemon) { user in
      let token = Enrolment.token(user)
      return [
        Enrolment.device(user, token: token),
        Enrolment.subscription(to: "private", token: token),
        Enrolment.subscription(to: "shared", token: token),
        Enrolment.subscription(toPublic: "Article", token: token),
      ]
    }
    try await daemon.settle()
    try await daemon.stop()
    let full = try await memory(store, standin)
    _ = try await standin.child.stop()
    return (full - empty) * 1_048_576 / Double(users)
  }

  /// The resident memory, in MiB, of a daemon that has just started on a store.
  private func memory(_ store: URL, _ standin: Standin) async throws -> Double {
    let daemon = try await MeasuredDaemon.start(bench, apns: standin.route, store: store)
    try await daemon.settle()
    let memory = try Memory.resident(of: daemon.child)
    try await daemon.stop()
    return memory
  }
}
