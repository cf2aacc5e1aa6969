import NIOCore

/// Writes CloudEvents like those of a record server, each with an id of its own.
struct EventWriter {
  /// Distinguishes the ids of one run from those of every other run.
  let run: String
  private var count = 0

  init(run: String) { self.run = run }

  /// The user, zone and record of a change.
  struct Subject {
    var user: String
    var zone: String
    var record: String
  }

  /// Appends one update of a record, about 440 bytes. The device that makes the change is not one
  /// that `Enrolment` registers, because the relay does not tell a device of its own change.
  mutating func write(_ subject: Subject, to buffer: inout ByteBuffer) {
    count += 1
    buffer.writeString(
      """
      {"specversion":"1.0","id":"\(run)-\(count)","source":"/records/api-1",\
      "type":"zonerelay.record.updated","time":"2026-11-21T03:00:00Z","data":{"database":"private",\
      "zoneID":{"zoneName":"\(subject.zone)","ownerRecordName":"\(subject.user)"},\
      "record":{"recordName":"\(subject.record)","recordType":"Article",\
      "recordChangeTag":"\(count)",\
      "fields":{"title":{"value":"An article of some length","type":"STRING"}}},\
      "changedBy":{"userRecordName":"\(subject.user)",\
      "clientId":"6f1c2a34-0000-4000-8000-ffffffffffff"}}}
      """)
  }

  /// A request with one event.
  mutating func single(_ subject: Subject) -> ByteBuffer {
    var body = ByteBuffer()
    write(subject, to: &body)
    return RequestText.events(body.readableBytesView, isBatch: false)
  }

  /// A request with an event for each subject.
  mutating func batch(_ subjects: some Sequence<Subject>) -> ByteBuffer {
    var body = ByteBuffer(string: "[")
    for (index, subject) in subjects.enumerated() {
      if index > 0 { body.writeString(",") }
      write(subject, to: &body)
    }
    body.writeString("]")
    return RequestText.events(body.readableBytesView)
  }

  /// Requests with `eventsEach` events each; the last one may have fewer.
  mutating func requests(_ subjects: [Subject], eventsEach: Int) -> [ByteBuffer] {
    stride(from: 0, to: subjects.count, by: eventsEach).map { first in
      eventsEach == 1
        ? single(subjects[first]) : batch(subjects[first...].prefix(eventsEach))
    }
  }
}
