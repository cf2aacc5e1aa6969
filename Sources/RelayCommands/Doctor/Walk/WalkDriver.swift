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
  let log: FindingLog

  /// The longest time of one request of the clean-up.
  private static let cleanUpTimeout = Duration.seconds(5)

  func run() async {
    let walk = await untilSignal()
    await lookInPublic(walk)
    // A signal ends only the walk; the task of the clean-up is not cancelled.
    await cleanUp(walk)
  }

  /// Walks until the end of the walk, or until a signal comes that would otherwise end the process.
  private func untilSignal() async -> ChangeWalk {
    let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup)
    return await withTaskGroup(of: ChangeWalk?.self) { group in
      group.addTask { await self.walk() }
      group.addTask {
        for await _ in signals { break }
        return nil
      }
      var isInterrupted = false
      for await walk in group {
        group.cancelAll()
        guard let walk else {
          isInterrupted = !Task.isCancelled
          continue
        }
        if isInterrupted {
          let hop = walk.hop?.subject ?? "a change"
          log.tell(.found(.changeInterrupted, hop, cause: "a signal came"))
        }
        return walk
      }
      preconditionFailure("the walk ends before its group")
    }
  }

  private func walk() async -> ChangeWalk {
    var walk = ChangeWalk(names: names, patience: patience)
    let clock = ContinuousClock()
    while !Task.isCancelled {
      let request: WalkRequest
      switch walk.next() {
      case .done: return walk
      case .ask(let next): request = next
      case .askLater(let next):
        // The sleep fails only if the walk is cancelled, and then the loop ends.
        try? await Task.sleep(for: ChangeWalk.pause)
        request = next
      }
      let begin = clock.now
      let answer = await web.ask(request, names, courier: walk.courierURL, within: patience)
      guard !Task.isCancelled else { break }
      if let finding = walk.answered(answer, took: clock.now - begin) { log.tell(finding) }
    }
    return walk
  }

  /// Looks for the walk's device where `server.publicURL` leads.
  private func lookInPublic(_ walk: ChangeWalk) async {
    guard walk.state == .done, let url = web.publicURL,
      let answer = await web.askInPublic(names, within: Self.cleanUpTimeout)
    else { return }
    log.tell(PublicURLEvidence(url: url, devices: answer, names).finding)
  }

  /// Removes what this walk has made, and what killed doctors have left.
  private func cleanUp(_ walk: ChangeWalk) async {
    guard !walk.made.isEmpty else { return }
    var left: [String] = []
    for request in walk.cleanUp {
      if let fault = await fault(of: request, names) { left.append("\(request): \(fault.cause)") }
    }
    // If something of this walk could not be removed, what earlier runs have left is not looked
    // for.
    if left.isEmpty { left = await removeOlder() }
    log.tell(
      left.isEmpty
        ? .passed(.change, "the doctor cleans up", "its zone, subscription and device are gone")
        : .found(.changeLeftovers, "user \(names.user)", cause: left.joined(separator: "; ")))
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
