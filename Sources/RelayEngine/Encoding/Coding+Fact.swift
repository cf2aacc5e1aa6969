package import RelayCore

extension Fact: ByteCoded {
  package func write(to writer: inout ByteWriter) {
    switch self {
    case .change(let change):
      writer.byte(1)
      writer.value(change)
    case .register(let registration):
      writer.byte(2)
      writer.value(registration)
    case .unregister(let unregistration):
      writer.byte(3)
      writer.value(unregistration)
    case .modify(let request):
      writer.byte(4)
      writer.value(request)
    case .slice(let slice):
      writer.byte(5)
      writer.value(slice)
    case .forwarded(let forwarded):
      writer.byte(6)
      writer.value(forwarded)
    case .expireTokens(let expiry):
      writer.byte(7)
      writer.value(expiry)
    case .lostHistory(let feed, let since):
      writer.byte(8)
      writer.value(feed)
      writer.value(since)
    case .markRead(let request):
      writer.byte(9)
      writer.value(request)
    case .setBadge(let request):
      writer.byte(10)
      writer.value(request)
    case .tick:
      writer.byte(12)
    case .forget(let ordinal):
      writer.byte(13)
      writer.value(ordinal)
    }
  }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    let kind = try reader.byte("Fact")
    switch kind {
    case 1: self = .change(try reader.value())
    case 2: self = .register(try reader.value())
    case 3: self = .unregister(try reader.value())
    case 4: self = .modify(try reader.value())
    case 5: self = .slice(try reader.value())
    case 6: self = .forwarded(try reader.value())
    case 7: self = .expireTokens(try reader.value())
    case 8: self = .lostHistory(try reader.value(), since: try reader.value())
    case 9: self = .markRead(try reader.value())
    case 10: self = .setBadge(try reader.value())
    case 12: self = .tick
    case 13: self = .forget(through: try reader.value())
    default: throw reader.failure(.number(UInt64(kind)), "Fact")
    }
  }
}

extension Registration: ByteCoded {
  package func write(to writer: inout ByteWriter) {
    writer.value(scope)
    writer.value(user)
    writer.value(client)
    writer.value(address)
  }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    self.init(
      scope: try reader.value(), user: try reader.value(), client: try reader.value(),
      address: try reader.value())
  }
}

extension Unregistration: ByteCoded {
  package func write(to writer: inout ByteWriter) {
    writer.value(scope)
    writer.value(user)
    switch device {
    case .client(let client):
      writer.byte(1)
      writer.value(client)
    case .token(let token):
      writer.byte(2)
      writer.data(token)
    }
  }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    let scope: Scope = try reader.value()
    let user: UserID = try reader.value()
    let kind = try reader.byte("Unregistration")
    switch kind {
    case 1: self.init(scope: scope, user: user, device: .client(try reader.value()))
    case 2: self.init(scope: scope, user: user, device: .token(try reader.data("Unregistration")))
    default: throw reader.failure(.number(UInt64(kind)), "Unregistration")
    }
  }
}

extension Slice: ByteCoded {
  package func write(to writer: inout ByteWriter) {
    writer.value(origin)
    writer.value(cursor)
  }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    self.init(origin: try reader.value(), cursor: try reader.value())
  }
}

extension TokenExpiry: ByteCoded {
  package func write(to writer: inout ByteWriter) {
    writer.text(container)
    writer.byte(environment?.rawValue ?? 0)
    writer.optional(user)
  }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    let container = try reader.optionalText("TokenExpiry")
    let number = try reader.byte("TokenExpiry")
    let environment = Environment(rawValue: number)
    guard number == 0 || environment != nil else {
      throw reader.failure(.number(UInt64(number)), "TokenExpiry")
    }
    self.init(container: container, environment: environment, user: try reader.optional())
  }
}

extension FeedKey: ByteCoded {
  package func write(to writer: inout ByteWriter) {
    writer.value(scope)
    switch kind {
    case .notifications(let user):
      writer.byte(1)
      writer.value(user)
    case .database(let user, let database):
      writer.byte(2)
      writer.value(user)
      writer.byte(database.rawValue)
    case .zone(let zone):
      writer.byte(3)
      writer.value(zone)
    }
  }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    let scope: Scope = try reader.value()
    let kind = try reader.byte("FeedKey")
    switch kind {
    case 1: self.init(scope: scope, kind: .notifications(try reader.value()))
    case 2: self.init(scope: scope, kind: .database(try reader.value(), try reader.raw()))
    case 3: self.init(scope: scope, kind: .zone(try reader.value()))
    default: throw reader.failure(.number(UInt64(kind)), "FeedKey")
    }
  }
}
