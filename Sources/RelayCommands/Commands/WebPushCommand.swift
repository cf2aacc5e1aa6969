import ArgumentParser
import Foundation
import RelayPush

struct WebPushCommand: RelayCommand {
  static let configuration = CommandConfiguration(
    commandName: "webpush",
    abstract: "Makes what Web Push needs.",
    subcommands: [WebPushKeysCommand.self])

  func perform(_ console: Console) async throws -> ExitStatus {
    throw Failure(.usage, "keys is missing", hint: "see: zonerelay webpush --help")
  }
}

struct WebPushKeysCommand: RelayCommand {
  static let configuration = CommandConfiguration(
    commandName: "keys",
    abstract: "Makes the key pair by which push services know the relay (VAPID).",
    discussion: """
      Writes the private key to a new file that only its owner may read; name it as webpush.key. \
      An existing file is never replaced: every subscription belongs to the key that it was made \
      with. Prints the public key in base64url: the app's applicationServerKey.

      Example:
        zonerelay webpush keys --out /etc/zonerelay/secrets/notes-webpush-key
      """)

  @Option(help: ArgumentHelp("The file to make for the private key.", valueName: "file"))
  var out = "webpush.pem"

  func perform(_ console: Console) async throws -> ExitStatus {
    let keys = WebPushKeys()
    let descriptor = open(out, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Self.failure(out, errno) }
    defer { close(descriptor) }
    let bytes = Array(keys.privateKey.utf8)
    guard write(descriptor, bytes, bytes.count) == bytes.count else {
      throw Self.failure(out, errno)
    }
    console.talk(line: "zonerelay: the private key is in \(out); the public key:")
    console.answer(line: keys.publicKey)
    return .done
  }

  private static func failure(_ path: String, _ code: Int32) -> Failure {
    Failure(
      .failed, "\(path) cannot be made: \(String(cString: strerror(code)))",
      hint: code == EEXIST
        ? "name another file, or go on using this key" : "name a file in a directory of yours")
  }
}
