import CNghttp2

/// The header fields of a request in nghttp2's form. Names, flags and constant values are laid out
/// once. Each request sets only the pointers to its values, and nothing is copied.
///
/// `@unchecked Sendable`: only one `Session` uses the array.
final class FieldArray: @unchecked Sendable {
  private let values: UnsafeMutablePointer<nghttp2_nv>
  private let capacity: Int
  /// The templates for `values`: one for each value of a request, the path first.
  private var templates: [nghttp2_nv] = []
  /// Memory of the names and constant values, freed in `deinit`.
  private var texts: [UnsafeMutableBufferPointer<UInt8>] = []
  private static let constants = 3

  init(shape: RequestShape, authority: String) {
    capacity = Self.constants + 1 + shape.fields.count
    values = .allocate(capacity: capacity)
    values.initialize(repeating: nghttp2_nv(), count: capacity)
    for (index, constant) in [
      (":method", "POST"), (":scheme", "https"), (":authority", authority),
    ].enumerated() {
      values[index] = template(constant.0, repeats: true)
      let value = keep(constant.1)
      values[index].value = value.baseAddress
      values[index].valuelen = value.count
    }
    templates = [template(":path", repeats: false)]
    for field in shape.fields {
      templates.append(template(field.name, repeats: field.repeats))
    }
  }

  deinit {
    values.deallocate()
    for text in texts { text.deallocate() }
  }

  /// The array is valid during the call; the bytes that its pointers name are valid as long as the
  /// request exists.
  @inline(__always)
  func withRequest<Result>(
    _ request: Request, _ body: (UnsafePointer<nghttp2_nv>, Int) -> Result
  ) -> Result {
    var count = Self.constants
    request.forEachValue { index, bytes, length in
      var field = templates[index]
      field.value = bytes
      field.valuelen = length
      values[count] = field
      count += 1
    }
    return body(values, count)
  }

  private func template(_ name: String, repeats: Bool) -> nghttp2_nv {
    var flags = NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue | NGHTTP2_NV_FLAG_NO_COPY_VALUE.rawValue
    if !repeats { flags |= NGHTTP2_NV_FLAG_NO_INDEX.rawValue }
    let text = keep(name)
    return nghttp2_nv(
      name: text.baseAddress, value: nil, namelen: text.count, valuelen: 0, flags: UInt8(flags))
  }

  private func keep(_ text: String) -> UnsafeMutableBufferPointer<UInt8> {
    let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: text.utf8.count)
    _ = copy.initialize(from: text.utf8)
    texts.append(copy)
    return copy
  }
}
