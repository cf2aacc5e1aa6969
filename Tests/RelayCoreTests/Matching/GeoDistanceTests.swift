import Foundation
@testable import RelayCore
import Testing

/// The core's own trigonometry compared with the system's.
@Suite struct GeoDistanceTests {
  @Test func `sine and cosine agree with the system's functions`() {
    var draw = SeededRandom(seed: 1)
    for round in 0..<5_000 {
      let quarter = Double(draw.below(17) - 8) * .pi / 2
      let angle =
        round % 2 == 0
        ? Double.random(in: -10...10, using: &draw)
        : quarter + Double.random(in: -1e-6...1e-6, using: &draw)
      #expect(abs(GeoDistance.sine(angle) - sin(angle)) < 4e-16)
      #expect(abs(GeoDistance.cosine(angle) - cos(angle)) < 4e-16)
    }
  }

  @Test func `nearness agrees with the great-circle distance between two places`() {
    var draw = SeededRandom(seed: 2)
    for _ in 0..<5_000 {
      let left = place(&draw)
      // Half of the pairs are close to each other, where precision matters most.
      let isClose = draw.chance(50)
      let right =
        isClose
        ? (
          max(-90, min(90, left.0 + Double.random(in: -0.01...0.01, using: &draw))),
          max(-180, min(180, left.1 + Double.random(in: -0.01...0.01, using: &draw)))
        ) : place(&draw)
      let length = greatCircle(left, right)
      let margin = 1e-6 * length + 1e-6
      #expect(GeoDistance.isNear(left, right, distance: length + margin))
      if length > margin { #expect(!GeoDistance.isNear(left, right, distance: length - margin)) }
    }
  }

  @Test func `a distance of zero is near to the same place only`() {
    let place = (52.5, 13.4)
    #expect(GeoDistance.isNear(place, place, distance: 0))
    #expect(!GeoDistance.isNear(place, (52.500_001, 13.4), distance: 0))
    #expect(!GeoDistance.isNear(place, place, distance: -1))
  }

  private func place(_ draw: inout SeededRandom) -> (Double, Double) {
    if draw.chance(10) { return (draw.pick([-90, 0, 90]), draw.pick([-180, 0, 180])) }
    return (
      Double.random(in: -90...90, using: &draw), Double.random(in: -180...180, using: &draw)
    )
  }

  /// The distance in metres, computed from the angle between the two directions as seen from the
  /// centre of the earth.
  private func greatCircle(_ left: (Double, Double), _ right: (Double, Double)) -> Double {
    func direction(_ place: (Double, Double)) -> [Double] {
      let (latitude, longitude) = (place.0 * .pi / 180, place.1 * .pi / 180)
      return [cos(latitude) * cos(longitude), cos(latitude) * sin(longitude), sin(latitude)]
    }
    let (a, b) = (direction(left), direction(right))
    let cross = [
      a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0],
    ]
    let across = (cross.map { $0 * $0 }.reduce(0, +)).squareRoot()
    let along = zip(a, b).map(*).reduce(0, +)
    return 6_371_008.8 * atan2(across, along)
  }
}
