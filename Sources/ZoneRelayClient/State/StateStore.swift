public import Foundation

/// Where the client keeps its state: a few hundred bytes, and some hundred for each zone.
///
/// The state belongs to one installation of the app. Keep it out of backups that are restored on
/// another device: two devices would have one name, and only one of them would be woken.
public protocol StateStore: Sendable {
  /// - Returns: the bytes of the last `save`; nil if there was none.
  func load() throws -> Data?

  /// Keeps these bytes in place of the last ones. They are durable when the call returns. After a
  /// crash during the call, `load` returns either the old bytes or these.
  func save(_ state: Data) throws
}

extension StateStore where Self == StateFile {
  /// Keeps the state in one file. Its directory must exist.
  public static func file(_ url: URL) -> StateFile { StateFile(url) }
}
