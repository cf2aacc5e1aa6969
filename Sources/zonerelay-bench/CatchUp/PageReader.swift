import NIOCore

/// A client that reads a zone from its start to its end, repeatedly.
///
/// `@unchecked Sendable`: the object is used on the bench's one event loop only; the token is read
/// after the run.
final class PageReader: LoadCaller, @unchecked Sendable {
  static let zone = "Notes"
  private let signature = MeasuredDaemon.userToken(CatchUpBench.user)
  private var walks: Int
  private let pages: Int
  private let limit: Int
  private var read = 0
  /// The change token of the page that the reader read last.
  private(set) var token = ""

  init(walks: Int, pages: Int, limit: Int) {
    (self.walks, self.pages, self.limit) = (walks, pages, limit)
  }

  func next(after answer: LoadAnswer?) throws -> Turn {
    if let answer {
      let isLast = answer.text.contains(#""moreComing":false"#)
      read += 1
      guard answer.status == 200, isLast == (read == pages),
        let next = answer.string(after: #""syncToken":""#)
      else {
        throw BenchError(
          "page \(read) was answered with \(answer.status): \(answer.text.suffix(500))")
      }
      token = next
      if isLast {
        (read, walks) = (0, walks - 1)
        if walks == 0 { return .done }
      }
    }
    return .send(Self.request(after: read == 0 ? nil : token, limit: limit, signature: signature))
  }

  static func request(after token: String?, limit: Int, signature: String) -> ByteBuffer {
    RequestText.page(
      of: zone, user: CatchUpBench.user, token: signature, after: token, limit: limit)
  }
}

/// A client that has all changes and asks for newer changes.
///
/// `@unchecked Sendable`: the object is used on the bench's one event loop only.
final class EmptyPoller: LoadCaller, @unchecked Sendable {
  private let request: ByteBuffer
  private var polls: Int

  init(_ token: String, polls: Int, limit: Int) {
    request = PageReader.request(
      after: token, limit: limit, signature: MeasuredDaemon.userToken(CatchUpBench.user))
    self.polls = polls
  }

  func next(after answer: LoadAnswer?) throws -> Turn {
    if let answer {
      guard answer.status == 200, answer.text.contains(#""records":[]"#) else {
        throw BenchError("a poll was answered with \(answer.status): \(answer.text.prefix(500))")
      }
    }
    guard polls > 0 else { return .done }
    polls -= 1
    return .send(request)
  }
}
