import Dispatch
import Foundation

/// Handles Ctrl-C and SIGTERM until `end`. Each of these signals closes the workbench before the
/// program ends, so that no started program stays behind.
struct Interrupts {
  private let sources: [any DispatchSourceSignal]

  init(closing bench: Workbench) {
    sources = [SIGINT, SIGTERM].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler {
        bench.close(ending: 128 + number)
      }
      source.resume()
      return source
    }
  }

  func end() {
    for source in sources { source.cancel() }
  }
}
