extension ZoneRelayClient {
  /// The client's status: first the present one, then each change. A slow reader gets the newest
  /// status and misses those between. Each read of the property begins a stream of its own.
  public nonisolated var status: AsyncStream<SyncStatus> {
    AsyncStream(bufferingPolicy: .bufferingNewest(1)) { stream in
      Task { await self.add(stream) }
    }
  }

  private func add(_ stream: AsyncStream<SyncStatus>.Continuation) {
    let number = statusBoard.add(stream)
    stream.onTermination = { [weak self] _ in
      Task { await self?.remove(number) }
    }
  }

  private func remove(_ stream: UInt64) { statusBoard.remove(stream) }

  func show(_ status: SyncStatus) { statusBoard.show(status) }
}
