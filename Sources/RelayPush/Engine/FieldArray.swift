import CNghttp2

/// The header fields of a request as nghttp2 wants them. Names, flags and constant values are laid
/// out once; for each request only the pointers to its values are filled in, and nothing is copied.
///
/// `@unchecked Sendable`: belongs to one `Session`.
final class FieldArray: @unchecked Sendable {
  private let values: UnsafeMutablePointer<nghttp2_nv>
  private let capacity: Int
  /// What `values` is filled from: one for each value of a request, the path first.
  private var templates: [nghttp2_nv] = []
  /// Names and constant values, for as long as this lives.
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

  /// The array is valid during the call; what it points to, as long as the request is.
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
