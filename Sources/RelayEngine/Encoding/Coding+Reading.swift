package import RelayCore

extension ReadRequest: ByteCoded {
  package func write(to writer: inout ByteWriter) {
    writer.value(scope)
    writer.value(user)
    writer.optional(client)
    writer.list(notifications)
  }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    self.init(
      scope: try reader.value(), user: try reader.value(), client: try reader.optional(),
      notifications: try reader.list())
  }
}

extension NotificationDetail.ReadMark: ByteCoded {
  package func write(to writer: inout ByteWriter) {
    writer.value(changed)
    writer.optional(device)
  }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    self.init(changed: try reader.value(), device: try reader.optional())
  }
}

extension BadgeRequest: ByteCoded {
  package func write(to writer: inout ByteWriter) {
    writer.value(scope)
    writer.value(user)
    writer.text(topic)
    writer.number(UInt64(badge))
  }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    let scope: Scope = try reader.value()
    let user: UserID = try reader.value()
    let topic = try reader.optionalText("BadgeRequest")
    let number = try reader.number("BadgeRequest")
    guard let badge = Int(exactly: number) else {
      throw reader.failure(.number(number), "BadgeRequest")
    }
    self.init(scope: scope, user: user, topic: topic, badge: badge)
  }
}
