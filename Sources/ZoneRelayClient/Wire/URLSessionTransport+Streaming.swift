#if !canImport(FoundationNetworking)
  public import Foundation

  // On Linux, URLSession gives an answer only when it is whole, so the client polls there.
  extension URLSessionTransport: StreamingTransport {
    public func open(_ request: RelayRequest) async throws -> StreamedAnswer {
      // The delegate follows no redirection here either.
      let (bytes, response) = try await session.bytes(
        for: Self.outgoing(request), delegate: answers)
      guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
      let lines = AsyncThrowingStream<[UInt8], any Error> { pieces in
        let reading = Task {
          do {
            var line: [UInt8] = []
            for try await byte in bytes {
              line.append(byte)
              guard byte == UInt8(ascii: "\n") || line.count >= 1_024 else { continue }
              pieces.yield(line)
              line.removeAll()
            }
            pieces.yield(line)
            pieces.finish()
          } catch {
            pieces.finish(throwing: error)
          }
        }
        pieces.onTermination = { _ in reading.cancel() }
      }
      return StreamedAnswer(
        status: response.statusCode, headers: Self.headers(of: response), bytes: lines)
    }
  }
#endif
