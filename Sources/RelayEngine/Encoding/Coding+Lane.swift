package import RelayCore

extension LaneRecord: BlobCoded {
  package static var blobVersion: UInt8 { 1 }

  package func write(to writer: inout ByteWriter) {
    writer.number(UInt64(reservedWake))
    writer.number(UInt64(nextWake))
    writer.list(background.times)
    writer.list(alert.times)
    writer.flag(hasAcknowledged)
    writer.count(ladderStep)
    writer.value(lastWake)
    writer.optional(retirement)
    writer.value(pending)
    writer.optional(lastVerdict)
    writer.optional(lastFetch)
    writer.count(learnt.max)
    writer.optional(fallback)
    writer.value(slot)
    writer.flag(isElsewhere)
    writer.optional(silence)
    writer.flag(hasTaken)
  }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    self = .empty
    reservedWake = try reader.wakeNumber()
    nextWake = try reader.wakeNumber()
    background = Budget(times: try reader.list())
    alert = Budget(times: try reader.list())
    hasAcknowledged = try reader.flag("LaneRecord")
    ladderStep = Int(try reader.small("LaneRecord"))
    lastWake = try reader.value()
    retirement = try reader.optional()
    pending = try reader.value()
    lastVerdict = try reader.optional()
    lastFetch = try reader.optional()
    learnt = LearntBudget(max: Int(try reader.small("LaneRecord")))
    fallback = try reader.optional()
    slot = try reader.value()
    isElsewhere = try reader.flag("LaneRecord")
    silence = try reader.optional()
    hasTaken = try reader.flag("LaneRecord")
  }
}

extension PushFallback: ByteCoded {
  package func write(to writer: inout ByteWriter) {
    writer.number(UInt64(first))
    writer.number(UInt64(last))
    writer.value(until)
    writer.value(deadline)
  }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    self.init(
      first: try reader.wakeNumber(), last: try reader.wakeNumber(), until: try reader.value(),
      deadline: try reader.value())
  }
}

extension LastVerdict: ByteCoded {
  package func write(to writer: inout ByteWriter) {
    writer.value(at)
    writer.text(text)
  }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    self.init(at: try reader.value(), text: try reader.text("LastVerdict"))
  }
}

extension ByteReader {
  /// Reads a number below 2³².
  fileprivate mutating func small(_ part: String) throws(CodingFailure) -> UInt32 {
    let number = try number(part)
    guard let small = UInt32(exactly: number) else { throw failure(.number(number), part) }
    return small
  }

  fileprivate mutating func wakeNumber() throws(CodingFailure) -> UInt32 { try small("wake") }
}

extension Retirement: ByteCoded {
  package func write(to writer: inout ByteWriter) {
    writer.value(at)
    writer.text(reason)
  }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    self.init(at: try reader.value(), reason: try reader.text("Retirement"))
  }
}

extension PendingSet: ByteCoded {
  package func write(to writer: inout ByteWriter) {
    writer.value(waking)
    writer.value(quiet)
    writer.list(alerts)
    writer.flag(lostAlerts)
  }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    self.init()
    waking = try reader.value()
    quiet = try reader.value()
    alerts = try reader.list()
    lostAlerts = try reader.flag("PendingSet")
  }
}

extension Subjects: ByteCoded {
  package func write(to writer: inout ByteWriter) {
    writer.list(zones)
    writer.list(query)
    writer.list(overflow)
  }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    self.init()
    zones = try reader.list()
    query = try reader.list()
    overflow = try reader.list()
  }
}

extension Pending: ByteCoded {
  package func write(to writer: inout ByteWriter) {
    writer.value(content)
    writer.value(position)
    writer.value(zonePosition)
    writer.flag(isFresh)
    writer.flag(isCovered)
    writer.number(UInt64(toldBy))
    writer.flag(isMixed)
    writer.flag(isHot)
    writer.flag(isUrgent)
    writer.flag(isFreshOfAlert)
    writer.flag(isCoveredOfAlert)
  }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    let content: NotificationContent = try reader.value()
    let position: Position = try reader.value()
    let zonePosition: Position = try reader.value()
    let isFresh = try reader.flag("Pending")
    let isCovered = try reader.flag("Pending")
    self.init(
      content: content, position: position, zonePosition: zonePosition, isFresh: isFresh,
      toldBy: try reader.wakeNumber())
    self.isCovered = isCovered
    isMixed = try reader.flag("Pending")
    isHot = try reader.flag("Pending")
    isUrgent = try reader.flag("Pending")
    isFreshOfAlert = try reader.flag("Pending")
    isCoveredOfAlert = try reader.flag("Pending")
  }
}

extension PendingAlert: ByteCoded {
  package func write(to writer: inout ByteWriter) {
    writer.value(key)
    writer.value(content)
    writer.value(position)
    writer.value(zonePosition)
    writer.optional(look)
    writer.flag(isHot)
  }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    self.init(
      key: try reader.value(), content: try reader.value(), position: try reader.value(),
      zonePosition: try reader.value(), look: try reader.optional(),
      isHot: try reader.flag("PendingAlert"))
  }
}

extension AlertKey: ByteCoded {
  package func write(to writer: inout ByteWriter) {
    writer.value(subscription)
    writer.byte(database.rawValue)
    writer.text(subject)
    writer.text(collapse)
  }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    self.init(
      subscription: try reader.value(), database: try reader.raw(),
      subject: try reader.text("AlertKey"), collapse: try reader.optionalText("AlertKey"))
  }
}

extension NotificationContent: ByteCoded {
  package func write(to writer: inout ByteWriter) {
    writer.value(subscription)
    writer.value(notification)
    writer.byte(database.rawValue)
    writer.value(zone)
    writer.value(kind)
  }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    self.init(
      subscription: try reader.value(), notification: try reader.value(),
      database: try reader.raw(), zone: try reader.value(), kind: try reader.value())
  }
}

extension NotificationContent.Kind: ByteCoded {
  package func write(to writer: inout ByteWriter) {
    switch self {
    case .query(let record, let reason, let values, let isCut):
      writer.byte(1)
      writer.text(record)
      writer.byte(reason.rawValue)
      writer.list(values)
      writer.flag(isCut)
    case .zone: writer.byte(2)
    case .database: writer.byte(3)
    }
  }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    let kind = try reader.byte("NotificationContent.Kind")
    switch kind {
    case 1:
      self = .query(
        record: try reader.text("NotificationContent.Kind"), reason: try reader.raw(),
        values: try reader.list(), isCut: try reader.flag("NotificationContent.Kind"))
    case 2: self = .zone
    case 3: self = .database
    default: throw reader.failure(.number(UInt64(kind)), "NotificationContent.Kind")
    }
  }
}
