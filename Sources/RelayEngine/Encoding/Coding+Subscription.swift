package import RelayCore

extension SubscriptionsRequest: ByteCoded {
  package func write(to writer: inout ByteWriter) {
    writer.value(scope)
    writer.value(user)
    writer.byte(database.rawValue)
    writer.list(operations)
  }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    self.init(
      scope: try reader.value(), user: try reader.value(), database: try reader.raw(),
      operations: try reader.list())
  }
}

extension SubscriptionsRequest.Operation: ByteCoded {
  package func write(to writer: inout ByteWriter) {
    switch self {
    case .save(let subscription):
      writer.byte(1)
      writer.value(subscription)
    case .delete(let id):
      writer.byte(2)
      writer.value(id)
    }
  }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    let kind = try reader.byte("SubscriptionsRequest.Operation")
    switch kind {
    case 1: self = .save(try reader.value())
    case 2: self = .delete(try reader.value())
    default: throw reader.failure(.number(UInt64(kind)), "SubscriptionsRequest.Operation")
    }
  }
}

extension Subscription: ByteCoded {
  package func write(to writer: inout ByteWriter) {
    writer.value(id)
    writer.byte(database.rawValue)
    writer.value(rule)
    writer.value(info)
    writer.flag(isUrgent)
  }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    self.init(
      id: try reader.value(), database: try reader.raw(), rule: try reader.value(),
      info: try reader.value(), isUrgent: try reader.flag("Subscription"))
  }
}

extension Subscription.Rule: ByteCoded {
  package func write(to writer: inout ByteWriter) {
    switch self {
    case .query(let rule):
      writer.byte(1)
      writer.value(rule)
    case .zone(let zone, let recordType):
      writer.byte(2)
      writer.value(zone)
      writer.text(recordType)
    case .database(let recordType):
      writer.byte(3)
      writer.text(recordType)
    }
  }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    let kind = try reader.byte("Subscription.Rule")
    switch kind {
    case 1: self = .query(try reader.value())
    case 2:
      self = .zone(try reader.value(), recordType: try reader.optionalText("Subscription.Rule"))
    case 3: self = .database(recordType: try reader.optionalText("Subscription.Rule"))
    default: throw reader.failure(.number(UInt64(kind)), "Subscription.Rule")
    }
  }
}

extension QueryRule: ByteCoded {
  package func write(to writer: inout ByteWriter) {
    writer.text(recordType)
    writer.list(filters)
    writer.byte(firesOn.rawValue)
    writer.flag(firesOnce)
    writer.optional(zone)
  }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    self.init(
      recordType: try reader.text("QueryRule"), filters: try reader.list(),
      firesOn: Firing(rawValue: try reader.byte("QueryRule")),
      firesOnce: try reader.flag("QueryRule"), zone: try reader.optional())
  }
}

extension QueryRule.Filter: ByteCoded {
  package func write(to writer: inout ByteWriter) {
    writer.text(field)
    writer.byte(comparator.rawValue)
    writer.value(value)
    writer.flag(distance != nil)
    if let distance { writer.double(distance) }
  }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    let part = "QueryRule.Filter"
    self.init(
      field: try reader.text(part), comparator: try reader.raw(), value: try reader.value(),
      distance: try reader.flag(part) ? try reader.double(part) : nil)
  }
}

extension NotificationInfo: ByteCoded {
  package func write(to writer: inout ByteWriter) {
    writer.value(alert)
    writer.text(sound)
    writer.flag(badges)
    writer.text(category)
    writer.flag(isContentAvailable)
    writer.flag(isMutable)
    writer.texts(desiredKeys)
    writer.text(collapseKey)
  }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    self.init()
    let part = "NotificationInfo"
    alert = try reader.value()
    sound = try reader.optionalText(part)
    badges = try reader.flag(part)
    category = try reader.optionalText(part)
    isContentAvailable = try reader.flag(part)
    isMutable = try reader.flag(part)
    desiredKeys = try reader.texts(part)
    collapseKey = try reader.optionalText(part)
  }
}

extension NotificationInfo.AlertText: ByteCoded {
  package func write(to writer: inout ByteWriter) {
    writer.text(body)
    writer.text(bodyKey)
    writer.texts(bodyArguments)
    writer.text(title)
    writer.text(titleKey)
    writer.texts(titleArguments)
    writer.text(subtitle)
    writer.text(subtitleKey)
    writer.texts(subtitleArguments)
    writer.text(actionKey)
    writer.text(launchImage)
  }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    self.init()
    let part = "NotificationInfo.AlertText"
    body = try reader.optionalText(part)
    bodyKey = try reader.optionalText(part)
    bodyArguments = try reader.texts(part)
    title = try reader.optionalText(part)
    titleKey = try reader.optionalText(part)
    titleArguments = try reader.texts(part)
    subtitle = try reader.optionalText(part)
    subtitleKey = try reader.optionalText(part)
    subtitleArguments = try reader.texts(part)
    actionKey = try reader.optionalText(part)
    launchImage = try reader.optionalText(part)
  }
}

extension SubscriptionRow: BlobCoded {
  package static var blobVersion: UInt8 { 1 }

  package func write(to writer: inout ByteWriter) {
    writer.value(scope)
    writer.value(user)
    writer.value(serial)
    writer.value(subscription)
  }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    self.init(
      scope: try reader.value(), user: try reader.value(), serial: try reader.value(),
      subscription: try reader.value())
  }
}
