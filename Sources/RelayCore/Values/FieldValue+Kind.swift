extension FieldValue {
  /// A field's type. Values of different types are never equal: the integer 5 is not the double
  /// 5.0.
  package enum Kind: UInt8, CaseIterable, Hashable, Sendable {
    case string, int64, double, bytes, timestamp, reference, location, asset, list

    package var isOrdered: Bool {
      switch self {
      case .string, .int64, .double, .timestamp, .bytes: true
      case .reference, .location, .asset, .list: false
      }
    }
  }

  package var kind: Kind {
    switch self {
    case .string: .string
    case .int64: .int64
    case .double: .double
    case .bytes: .bytes
    case .timestamp: .timestamp
    case .reference: .reference
    case .location: .location
    case .asset: .asset
    case .list: .list
    }
  }

  /// Whether the value is or contains NaN, which is equal to no value, itself included.
  var hasNaN: Bool {
    switch self {
    case .double(let number): number.isNaN
    case .location(let latitude, let longitude): latitude.isNaN || longitude.isNaN
    case .list(let values): values.contains(where: \.hasNaN)
    default: false
    }
  }
}
