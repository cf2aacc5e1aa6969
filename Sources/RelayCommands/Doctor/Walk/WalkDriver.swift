import Foundation
import RelayCore
import RelaySystem
import UnixSignals

/// Walks through the relay with one change, and removes afterwards what it has made: also after a
/// signal, and after a hop that is broken.
struct WalkDriver: Sendable {
  let web: WalkWeb
  let names: WalkNames
  /// How long the courier may take.
  let patience: Duration
  /// Called with each finding as it comes.
  let tell: @Sendable (Finding) -> Void

  /// The longest time of one request of the clean-up.
  private static let cleanUpTimeout = Duration.seconds(5)

  /// Returns all findings, in the order told.
  func run() async -> [Finding] {
    let (walk, found) = await untilSignal()
    var findings = found
    for finding in await lookInPublic(walk) {
      tell(finding)
      findings.append(finding)
    }
    // The signal has ended the walk alone; the task of the clean-up is not cancelled.
    for finding in await cleanUp(walk) {
      tell(finding)
      findings.append(finding)
    }
    return findings
  }

  private enum Part: Sendable {
    case walked(ChangeWalk, [Finding])
    case signalled
  }

  /// Walks until the end, or until a signal would end the process.
  private func untilSignal() async -> (ChangeWalk, [Finding]) {
    let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup)
    return await withTaskGroup(of: Part.self) { group in
      group.addTask { await self.walk() }
      group.addTask {
        for await _ in signals { break }
        return .signalled
      }
      var isInterrupted = false
      for await part in group {
        switch part {
        case .signalled:
          isInterrupted = !Task.isCancelled
          group.cancelAll()
        case .walked(let walk, var found):
          group.cancelAll()
          if isInterrupted {
            let finding = Finding.found(
              .changeInterrupted, walk.hop?.subject ?? "a change", cause: "a signal came")
            tell(finding)
            found.append(finding)
          }
          return (walk, found)
        }
      }
      preconditionFailure("the walk ends before its group")
    }
  }

  private func walk() async -> Part {
    var walk = ChangeWalk(names: names, patience: patience)
    var found: [Finding] = []
    let clock = ContinuousClock()
    while !Task.isCancelled {
      let request: WalkRequest
      switch walk.next() {
      case .done: return .walked(walk, found)
      case .ask(let next): request = next
      case .askLater(let next):
        // The sleep fails only if the walk is cancelled, and then the loop ends.
        try? await Task.sleep(for: ChangeWalk.pause)
        request = next
      }
      let begin = clock.now
      let answer = await web.ask(request, names, courier: walk.courierURL, within: patience)
      guard !Task.isCancelled else { break }
      guard let finding = walk.answered(answer, took: clock.now - begin) else { continue }
      tell(finding)
      found.append(finding)
    }
    return .walked(walk, found)
  }

  /// Looks for the walk's device where `server.publicURL` leads.
  private func lookInPublic(_ walk: ChangeWalk) async -> [Finding] {
    guard walk.state == .done, let url = web.publicURL,
      let answer = await web.askInPublic(names, within: Self.cleanUpTimeout)
    else { return [] }
    return PublicURLEvidence(url: url, devices: answer, names).findings
  }

  /// Removes what this walk has made, and what killed doctors have left.
  private func cleanUp(_ walk: ChangeWalk) async -> [Finding] {
    guard !walk.made.isEmpty else { return [] }
    var left: [String] = []
    for request in walk.cleanUp {
      if let fault = await fault(of: request, names) { left.append("\(request): \(fault.cause)") }
    }
    // If the relay answered nothing at all, it is not asked for older things.
    if left.isEmpty { left = await removeOlder() }
    guard left.isEmpty else {
      return [
        .found(.changeLeftovers, "user \(names.user)", cause: left.joined(separator: "; "))
      ]
    }
    return [.passed(.change, "the doctor cleans up", "its zone, subscription and device are gone")]
  }

  private func removeOlder() async -> [String] {
    let answer = await web.ask(.list, names, within: Self.cleanUpTimeout)
    let older: [WalkNames]
    do throws(WalkFault) {
      older = WalkNames.left(in: try answer.body(), at: SystemClock().wall())
    } catch {
      return ["the devices of earlier runs are not known: \(error.cause)"]
    }
    var left: [String] = []
    for older in older {
      for request in ChangeWalk.ends.map(\.request) {
        if let fault = await fault(of: request, older) {
          left.append("\(request) of \(older.client): \(fault.cause)")
        }
      }
    }
    return left
  }

  private func fault(of request: WalkRequest, _ names: WalkNames) async -> WalkFault? {
    let answer = await web.ask(request, names, within: Self.cleanUpTimeout)
    do throws(WalkFault) {
      _ = try answer.body(expecting: request == .endZone ? 202 : 200)
      return nil
    } catch {
      return error
    }
  }
}
