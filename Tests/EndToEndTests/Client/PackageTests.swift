import Foundation
import Testing

/// A Swift package as an app's authors write it, with the samples of the documentation in it.
@Suite(.serialized) struct PackageTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// The package depends on the library alone: nothing of what the daemon needs is fetched or
  /// built, and pkg-config finds no C library.
  @Test func `an app's package builds, its tests pass, and the sample fetches`() async throws {
    let workplace = try Workplace()
    defer { workplace.remove() }
    try Self.write(in: workplace)
    let listed = try await Self.swift(
      ["package", "show-dependencies", "--format", "json"], workplace)
    let app = JSON(data: Data(listed.utf8))
    #expect(app["dependencies"].array.map { $0["name"].string } == ["zonerelay"])
    #expect(app["dependencies"][0]["dependencies"].array.isEmpty, "\(listed)")

    _ = try await Self.swift(["build", "--build-tests"], workplace)
    let built = try FileManager.default.contentsOfDirectory(
      atPath: workplace.file("app/.build/debug").path)
    #expect(built.contains("ZoneRelayClient.build"))
    for name in ["RelayCore", "CCurl", "CSystemd", "CNghttp2", "GRDB", "NIOCore"] {
      #expect(!built.contains("\(name).build"), "\(name) was built")
    }
    let tested = try await Self.swift(["test", "--skip-build", "--disable-xctest"], workplace)
    #expect(tested.contains("with 1 test"), "\(tested)")
    try await Self.runSample(in: workplace)
  }

  /// Runs the Linux sample against a daemon like that of the quick start.
  private static func runSample(in workplace: Workplace) async throws {
    let standin = try await Standin.start(in: workplace)
    defer { standin.stop() }
    try workplace.configure(window: "0ms")
    let daemon = try await RunningDaemon.start(in: workplace)
    let token = UserJWT.make(user: "_alice", secret: workplace.userSecret)
    try (token + "\n").write(
      to: workplace.file("user.jwt"), atomically: true, encoding: .utf8)
    let sample = try Program(
      ["-C", workplace.directory.path, workplace.file("app/.build/debug/sample").path],
      in: workplace, name: "sample", program: URL(fileURLWithPath: "/usr/bin/env"))
    for number in 1...3 {
      let event: [String: Any] = [
        "specversion": "1.0", "id": "\(number)", "source": "/records/1",
        "type": "zonerelay.record.created",
        "data": [
          "database": "private",
          "zoneID": ["zoneName": "ReadingList", "ownerRecordName": "_alice"],
          "record": [
            "recordName": "A\(number)", "recordType": "Article", "recordChangeTag": "\(number)",
          ],
        ],
      ]
      let answer = try await Producer.send(
        Producer.encode([event]), to: daemon.web, key: workplace.producerKey)
      #expect(answer.status == 202)
      let isThere = await Pause.until(seconds: 60) {
        // The file does not exist until the sample has written something.
        (try? String(contentsOf: workplace.file("notes.json"), encoding: .utf8))?
          .contains("\"A\(number)\":\"\(number)\"") == true || !sample.isRunning
      }
      #expect(isThere && sample.isRunning, "\(sample.output) \(sample.errors)")
    }
    sample.signal(SIGTERM)
    await sample.wait()
    #expect(await daemon.stop().status == 0)
  }

  /// Runs a command of the Swift toolchain in the app's package.
  private static func swift(_ arguments: [String], _ workplace: Workplace) async throws -> String {
    let ended = try await Program(
      ["PKG_CONFIG_LIBDIR=/nonexistent", "PKG_CONFIG_PATH=/nonexistent", "swift"]
        + arguments.prefix(1)
        + ["--package-path", workplace.file("app").path] + arguments.dropFirst(),
      in: workplace, name: arguments[0], program: URL(fileURLWithPath: "/usr/bin/env")
    ).wait(seconds: 600)
    guard ended.status == 0 else {
      throw TestFailure("swift \(arguments): \(ended.output) \(ended.errors)")
    }
    return ended.output
  }

  // MARK: The Swift package of an app

  private static func write(in workplace: Workplace) throws {
    let readme = try page("README.md")
    let guide = try page("docs/client.md")
    for name in ["ios", "linux"] {
      let sample = try sample(name, of: readme)
      #expect(try Self.sample(name, of: guide) == sample, "the pages show different samples")
      #expect(sample.split(separator: "\n", omittingEmptySubsequences: false).count <= 25)
    }
    let linux = try sample("linux", of: readme).replacing(
      "http://127.0.0.1:8460", with: workplace.api)
    try write(manifest, to: "Package.swift", workplace)
    try write(linux, to: "Sources/sample/main.swift", workplace)
    try write(try sample("ios", of: readme), to: "Sources/phone/AppDelegate.swift", workplace)
    try write(noteStore, to: "Sources/phone/NoteStore.swift", workplace)
    try write(uiKit, to: "Sources/UIKit/UIKit.swift", workplace)
    try write(
      try sample("testing", of: guide), to: "Tests/AppTests/NoteTests.swift", workplace)
  }

  private static func page(_ path: String) throws -> String {
    try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
  }

  /// The page's Swift block that follows the comment with the sample's name.
  private static func sample(_ name: String, of page: String) throws -> String {
    guard let mark = page.range(of: "<!-- sample: \(name) -->\n```swift\n"),
      let end = page.range(of: "\n```", range: mark.upperBound..<page.endIndex)
    else { throw TestFailure("no sample \(name)") }
    return String(page[mark.upperBound..<end.lowerBound])
  }

  private static func write(_ text: String, to path: String, _ workplace: Workplace) throws {
    let file = workplace.file("app/\(path)")
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try text.write(to: file, atomically: true, encoding: .utf8)
  }

  private static var manifest: String {
    """
    // swift-tools-version: 6.0
    import PackageDescription
    let client = Target.Dependency.product(name: "ZoneRelayClient", package: "zonerelay")
    let package = Package(
      name: "app", platforms: [.macOS(.v15)],
      dependencies: [.package(name: "zonerelay", path: "\(root.path)")],
      targets: [
        .executableTarget(name: "sample", dependencies: [client]),
        .target(name: "UIKit"),
        .target(name: "phone", dependencies: [client, "UIKit"]),
        .testTarget(
          name: "AppTests",
          dependencies: [client, .product(name: "ZoneRelayTesting", package: "zonerelay")]),
      ])
    """
  }

  /// What the iOS sample takes from the app.
  private static let noteStore = """
    import Foundation
    import ZoneRelayClient
    struct NoteStore: ChangeSink {
      static let isDebugBuild = true
      static func show(_ error: any Error) { print(error) }
      static func makeClient() -> ZoneRelayClient {
        let relay = RelayAddress(
          url: URL(string: "https://relay.example.com")!, container: "iCloud.com.example.notes",
          environment: .production)
        return try! ZoneRelayClient(
          relay, state: .file(URL(fileURLWithPath: "sync.state")), sink: NoteStore(),
          credentials: { _ in nil })
      }
      func apply(_ page: ZonePage) async throws {}
      func remove(_ zone: ZoneID, _ why: ZoneLoss) async throws {}
      func accountChanged(from: String?, to: String?) async throws {}
    }
    """

  /// The part of UIKit that the iOS sample uses, with the same signatures.
  private static let uiKit = """
    @_exported import Foundation
    public enum UIBackgroundFetchResult: UInt, Sendable { case newData, noData, failed }
    @MainActor open class UIResponder: NSObject {}
    @MainActor open class UIApplication: UIResponder {}
    @MainActor public protocol UIApplicationDelegate: NSObjectProtocol {
      func application(
        _ application: UIApplication,
        didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data)
      func application(
        _ application: UIApplication,
        didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void)
    }
    """
}
