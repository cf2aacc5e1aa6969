import RelayCore

/// Reads the dates of CloudEvents (RFC 3339), and writes the dates of HTTP.
enum Timestamp {
  /// The instant of a date in the form of RFC 3339; `nil` if the text is no such date. Digits
  /// beyond milliseconds are dropped; a leap second counts as the second before it.
  static func instant(_ text: String) -> Instant? {
    let bytes = Array(text.utf8)
    guard bytes.count > 19, hasForm(bytes[..<10], "0000-00-00"), "Tt ".utf8.contains(bytes[10]),
      hasForm(bytes[11..<19], "00:00:00")
    else { return nil }
    let (year, month, day) = (number(bytes[..<4]), number(bytes[5..<7]), number(bytes[8..<10]))
    let (hour, minute) = (number(bytes[11..<13]), number(bytes[14..<16]))
    let second = number(bytes[17..<19])
    var rest = bytes[19...]
    guard let fraction = fraction(&rest), let offset = offset(rest),
      1...12 ~= month, 1...days(in: month, of: year) ~= day, hour < 24, minute < 60, second <= 60
    else { return nil }
    let minutes = (dayNumber(year, month, day) * 24 + hour) * 60 + minute - offset
    return Instant(milliseconds: (minutes * 60 + min(second, 59)) * 1_000 + fraction)
  }

  /// True if the text is `form`, with any digit for each zero.
  static func hasForm(_ text: some Collection<UInt8>, _ form: String) -> Bool {
    text.count == form.utf8.count
      && zip(text, form.utf8).allSatisfy { $1 == UInt8(ascii: "0") ? isDigit($0) : $0 == $1 }
  }

  /// The date of an answer in the form of RFC 9110: `Sat, 21 Nov 2026 03:00:00 GMT`.
  static func httpDate(_ instant: Instant) -> String {
    let seconds = instant.milliseconds / 1_000
    let number = seconds / 86_400
    let (year, month, day) = date(of: number)
    let (hour, minute, second) = (seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60)
    let weekday = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"][Int(number % 7)]
    let names = [
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let time = "\(two(hour)):\(two(minute)):\(two(second))"
    return "\(weekday), \(two(day)) \(names[Int(month) - 1]) \(year) \(time) GMT"
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")) ~= byte
  }

  private static func number(_ digits: ArraySlice<UInt8>) -> Int64 {
    digits.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
  }

  /// Reads the fraction of a second, in milliseconds; 0 if there is no fraction, nil if the
  /// fraction has no digit.
  private static func fraction(_ rest: inout ArraySlice<UInt8>) -> Int64? {
    guard rest.first == UInt8(ascii: ".") else { return 0 }
    let digits = rest.dropFirst().prefix(while: isDigit)
    rest = rest[digits.endIndex...]
    guard !digits.isEmpty else { return nil }
    return (min(digits.count, 3)..<3).reduce(number(digits.prefix(3))) { number, _ in number * 10 }
  }

  /// The offset from UTC, in minutes; positive to the east. Returns nil if the offset is missing or
  /// malformed.
  private static func offset(_ text: ArraySlice<UInt8>) -> Int64? {
    guard let sign = text.first else { return nil }
    if text.count == 1, "Zz".utf8.contains(sign) { return 0 }
    guard "+-".utf8.contains(sign), hasForm(text.dropFirst(), "00:00") else { return nil }
    let (hours, minutes) = (number(text.dropFirst().prefix(2)), number(text.suffix(2)))
    guard hours < 24, minutes < 60 else { return nil }
    return (sign == UInt8(ascii: "-") ? -1 : 1) * (hours * 60 + minutes)
  }

  private static func days(in month: Int64, of year: Int64) -> Int64 {
    switch month {
    case 4, 6, 9, 11: 30
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    default: 31
    }
  }

  /// The number of days since 1970-01-01. The computation lets years begin in March, so that the
  /// leap day is the last day of a year.
  private static func dayNumber(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
    let shifted = month <= 2 ? year - 1 : year
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }

  /// The inverse of `dayNumber`, for days since 1970.
  private static func date(of number: Int64) -> (Int64, Int64, Int64) {
    let days = number + 719_468
    let era = days / 146_097
    let dayOfEra = days - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shifted = (5 * dayOfYear + 2) / 153
    let month = shifted < 10 ? shifted + 3 : shifted - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * shifted + 2) / 5 + 1)
  }
}
