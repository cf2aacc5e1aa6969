import Foundation

/// A `zonerelay phone run` with a directory that outlives its process.
struct PhoneProcess {
  let user: String
  private let directory: URL
  private let arguments: [String]
  private let workplace: Workplace
  private(set) var program: Program

  init(_ number: Int, user: String, relay: String, in workplace: Workplace) throws {
    self.user = user
    self.workplace = workplace
    directory = workplace.file("phone-\(number)")
    arguments = [
      "phone", "run", "--relay", relay, "--container", Workplace.container, "--user-secret",
      workplace.file("user.secret").path, "--user", user, "--state", directory.path, "--json",
    ]
    program = try Program(arguments, in: workplace, name: "phone")
  }

  /// Kills the process with `kill -9` and starts it again.
  mutating func restart() async throws {
    program.signal(SIGKILL)
    await program.wait()
    program = try Program(arguments, in: workplace, name: "phone")
  }

  /// The change tags of the records in the copy, by zone and name.
  func copy() throws -> [RandomRecords.Zone: [String: String]] {
    struct File: Decodable {
      struct Records: Decodable { var tags: [String: String] }
      var zone: RandomRecords.Zone
      var records: Records
    }
    let folder = directory.appendingPathComponent("zones")
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    var copy: [RandomRecords.Zone: [String: String]] = [:]
    for name in files where name.hasSuffix(".json") {
      // The phone may replace or remove the file at this moment.
      guard let json = try? Data(contentsOf: folder.appendingPathComponent(name)) else { continue }
      let file = try JSONDecoder().decode(File.self, from: json)
      copy[file.zone] = file.records.tags
    }
    return copy
  }
}
