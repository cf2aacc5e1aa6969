import RelayCore

/// The checks that feedback for the apps' servers agrees with the tables, also after crashes.
extension World {
  /// P5: a device is out of reach only for a recorded reason, and feedback reports the reason once.
  func checkFeedback(_ tables: PartitionTables) throws {
    for row in tables.devices {
      let own = store.feedback.filter {
        $0.device == row.key && $0.registration == row.registration
      }
      if let retirement = row.lane.retirement {
        var isTold = false
        if case .retired(retirement.reason, _) = own.last?.news { isTold = true }
        try demand(
          .everyDeviceIsWoken, isTold,
          "\(row.key.line) is retired, and the app server was not told")
      } else if row.lane.silence?.isTold == true {
        try demand(
          .everyDeviceIsWoken, own.last?.isSilence == true,
          "\(row.key.line) is silent, and the app server was not told")
      } else if let last = own.last?.news {
        try demand(
          .everyDeviceIsWoken, last == .returned,
          "\(row.key.line) is well, and was last told \(last)")
      }
      try checkOrder(own.map(\.news), row)
    }
  }

  /// Feedback reports nothing more about a registration after its retirement. It never reports
  /// twice in a row that a device is silent, and never twice in a row that it has returned.
  private func checkOrder(_ news: [Feedback.News], _ row: DeviceRow) throws {
    for (before, after) in zip(news, news.dropFirst()) {
      let isWrong =
        switch (before, after) {
        case (.retired, _), (.silent, .silent), (.returned, .returned): true
        default: false
        }
      try demand(
        .everyDeviceIsWoken, !isWrong,
        "\(row.key.line) was told \(before) and then \(after)")
    }
  }
}

extension Feedback {
  var isSilence: Bool {
    if case .silent = news { true } else { false }
  }
}
