import RelayStore
import Synchronization

/// Prints the progress of a backup: for each file a line when its copy begins, one for each further
/// tenth of its bytes, and one when the check of the file begins.
final class BackupProgress: Sendable {
  private let console: Console
  private let told = Mutex<(file: String, tenths: Int64)>(("", -1))

  init(_ console: Console) { self.console = console }

  func tell(_ progress: StoreBackup.Progress) {
    let all = HumanFormat.size(progress.bytesInAll)
    guard progress.step == .copying else {
      return console.talk(line: "zonerelay: \(progress.file): checking \(all)")
    }
    let tenths = progress.bytesInAll > 0 ? progress.bytes * 10 / progress.bytesInAll : 10
    let isNews = told.withLock { told in
      defer { told = (progress.file, tenths) }
      return told.file != progress.file || told.tenths < tenths
    }
    guard isNews else { return }
    console.talk(
      line: "zonerelay: \(progress.file): \(HumanFormat.size(progress.bytes)) of \(all) copied")
  }
}
