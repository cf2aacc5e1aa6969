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

  /// Appends one update of a record, about 440 bytes. The device that makes it is none of those
  /// that `Enrolment` registers: a device is not told its own change.
  mutating func write(_ subject: Subject, to buffer: inout ByteBuffer) {
    count += 1
    buffer.writeString(#"{"specversion":"1.0","id":""#)
    buffer.writeString("\(run)-\(count)")
    buffer.writeString(
      #"","source":"/records/api-1","type":"zonerelay.record.updated","#
        + #""time":"2026-11-21T03:00:00Z","data":{"database":"private","zoneID":{"zoneName":""#)
    buffer.writeString(subject.zone)
    buffer.writeString(#"","ownerRecordName":""#)
    buffer.writeString(subject.user)
    buffer.writeString(#""},"record":{"recordName":""#)
    buffer.writeString(subject.record)
    buffer.writeString(#"","recordType":"Article","recordChangeTag":""#)
    buffer.writeString("\(count)")
    buffer.writeString(
      #"","fields":{"title":{"value":"An article of some length","type":"STRING"}}},"#
        + #""changedBy":{"userRecordName":""#)
    buffer.writeString(subject.user)
    buffer.writeString(#"","clientId":"6f1c2a34-0000-4000-8000-ffffffffffff"}}}"#)
  }

  /// A request with one event.
  mutating func single(_ subject: Subject) -> ByteBuffer {
    var body = ByteBuffer()
    write(subject, to: &body)
    return Self.post(body, type: "application/cloudevents+json")
  }

  /// A request with an event for each subject.
  mutating func batch(_ subjects: some Sequence<Subject>) -> ByteBuffer {
    var body = ByteBuffer(string: "[")
    var isFirst = true
    for subject in subjects {
      if !isFirst { body.writeString(",") }
      isFirst = false
      write(subject, to: &body)
    }
    body.writeString("]")
    return Self.post(body, type: "application/cloudevents-batch+json")
  }

  private static func post(_ body: ByteBuffer, type: String) -> ByteBuffer {
    RequestText.post(
      "/events/1/\(MeasuredDaemon.scope)", token: MeasuredDaemon.producerKey, type: type,
      body: body.readableBytesView)
  }
}
