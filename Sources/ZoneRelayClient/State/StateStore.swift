public import Foundation

/// Where the client keeps its state: a few hundred bytes and about hundred for each zone.
///
/// The state belongs to one installation of the app. It must not be part of a backup that is
/// restored on another device, because two devices would then have one name.
public protocol StateStore: Sendable {
  /// - Returns: the bytes of the last `save`; nil if there was none.
  func load() throws -> Data?

  /// Keeps these bytes in place of the last ones. When the call returns they are durable; after a
  /// crash during the call, `load` returns the old bytes or these, never a part.
  func save(_ state: Data) throws
}

extension StateStore where Self == StateFile {
  /// Keeps the state in one file. Its directory must exist.
  public static func file(_ url: URL) -> StateFile { StateFile(url) }
}
