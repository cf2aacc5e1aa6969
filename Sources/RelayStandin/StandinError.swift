/// Why the stand-in could not start or continue.
package struct StandinError: Error, CustomStringConvertible, Sendable {
  /// The stable name of a kind of failure.
  package struct Code: Hashable, Sendable {
    package let name: String
    private init(_ name: String) { self.name = name }

    /// A setting is out of its range, or the text of a fault cannot be read.
    package static let badSetting = Code("standin_bad_setting")
    /// A file of the stand-in's directory could not be made, read or written.
    package static let files = Code("standin_files")
    /// A key or a certificate could not be made, or could not be read from its file.
    package static let keys = Code("standin_keys")
    /// The stand-in could not listen on the address.
    package static let listen = Code("standin_listen")
  }

  package let code: Code
  /// What happened, to which item, and why.
  package let message: String
  /// What the user can do about the failure.
  package let remedy: String

  package var description: String { "\(message); \(remedy)" }

  /// Runs `body`. If `body` throws an error, throws an error that says what failed and names the
  /// remedy.
  static func explain<Value>(
    _ code: Code, _ what: String, remedy: String, _ body: () throws -> Value
  ) throws(StandinError) -> Value {
    do {
      return try body()
    } catch {
      throw StandinError(code: code, message: "\(what): \(error)", remedy: remedy)
    }
  }
}
