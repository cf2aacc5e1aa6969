/// Distances on a sphere with the Earth's mean radius (WGS 84). Distances on an ellipsoid would
/// differ by at most 0.6 %.
enum GeoDistance {
  static let radiusMetres = 6_371_008.8

  /// Whether two locations, in degrees, are at most `distance` metres apart. Invalid locations (a
  /// latitude above 90°, a longitude above 180°, NaN) are near no location.
  ///
  /// Haversines are compared, because they are exact for short distances and need no inverse
  /// function. The date line and the poles are no special cases for haversines.
  static func isNear(
    _ left: (latitude: Double, longitude: Double), _ right: (latitude: Double, longitude: Double),
    distance: Double
  ) -> Bool {
    guard isPlace(left.latitude, left.longitude), isPlace(right.latitude, right.longitude),
      distance >= 0
    else { return false }
    let half = distance / radiusMetres / 2
    // No distance is greater than half way round the Earth.
    guard half < .pi / 2 else { return true }
    let latitudes = sine(radians(left.latitude - right.latitude) / 2)
    let longitudes = sine(radians(left.longitude - right.longitude) / 2)
    let limit = sine(half)
    let haversine =
      latitudes * latitudes + cosine(radians(left.latitude)) * cosine(radians(right.latitude))
      * longitudes * longitudes
    return haversine <= limit * limit
  }

  static func isPlace(_ latitude: Double, _ longitude: Double) -> Bool {
    abs(latitude) <= 90 && abs(longitude) <= 180
  }

  private static func radians(_ degrees: Double) -> Double { degrees * (.pi / 180) }

  /// The sine of an angle in radians, exact to a few units in the last place for angles of a few
  /// turns. The standard library has no trigonometry, and the core imports no other library for it.
  static func sine(_ angle: Double) -> Double { quarter(angle, 0) }
  static func cosine(_ angle: Double) -> Double { quarter(angle, 1) }

  /// The sine of `angle` + `shift` quarter turns. The angle is reduced to at most half a quarter
  /// turn from zero. π/2 is subtracted in two parts, so that no precision is lost near the
  /// multiples of π/2.
  private static func quarter(_ angle: Double, _ shift: Int) -> Double {
    let turns = (angle * (2 / .pi)).rounded()
    let rest = (angle - turns * 0x1.921f_b544p0) - turns * 0x1.0b46_11a6_2633_1p-34
    switch (Int(turns) + shift) & 3 {
    case 0: return smallSine(rest)
    case 1: return smallCosine(rest)
    case 2: return -smallSine(rest)
    default: return -smallCosine(rest)
    }
  }

  /// A Taylor series of nine terms: at π/4 the first term left out is below 10⁻¹⁶.
  private static func smallSine(_ angle: Double) -> Double { angle * series(angle, 1) }
  private static func smallCosine(_ angle: Double) -> Double { series(angle, -1) }

  /// 1 − x²/d₁ · (1 − x²/d₂ · (1 − …)), where dₖ = 2k · (2k + side).
  private static func series(_ angle: Double, _ side: Double) -> Double {
    let square = angle * angle
    var sum = 1.0
    for term in (1...8).reversed() {
      let even = Double(2 * term)
      sum = 1 - square / (even * (even + side)) * sum
    }
    return sum
  }
}
