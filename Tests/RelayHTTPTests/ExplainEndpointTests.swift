import HTTPTypes
import Testing

/// The questions that `GET /explain` and `GET /tail` take.
@Suite struct ExplainEndpointTests {
  private static let phone = "device=\(Rig.phone)"

  @Test(
    arguments: [
      "", "?zone=_abc/Notes", "?record=A1", "?zone=Notes&record=A1", "?device=phone",
      "?source=/r", "?id=1", "?source=/r&id=1&zone=_abc/Notes", "?\(phone)&last=0",
      "?\(phone)&last=101", "?\(phone)&last=many", "?\(phone)&environment=test",
      "?\(phone)&zone=/Notes", "?\(phone)&zone=_abc/",
    ])
  func `a question that names nothing, or names it wrongly, is refused`(query: String) async throws
  {
    let rig = await Rig()
    let answer = try await rig.send(.get, "/explain\(query)", control: true)
    #expect(answer.status == 400, "\(query): \(answer.text)")
  }

  /// The rig has no recorder.
  @Test(
    arguments: [
      "?\(phone)", "?\(phone)&zone=Notes&last=100", "?source=/r&id=1", "?zone=_abc/A%2FB&record=A1",
      // The zone's name begins with a combining accent, which joins the slash before it.
      "?zone=_abc/%CC%81Notes&record=A1",
      "?source=/r&id=1&\(phone)&container=c&environment=production",
    ])
  func `a good question finds that the recorder is off`(query: String) async throws {
    let rig = await Rig()
    for path in ["/explain", "/tail"] {
      let answer = try await rig.send(.get, "\(path)\(query)", control: true)
      #expect(answer.status == 404 && answer.text.contains("trace.size is 0"), "\(answer.text)")
    }
    #expect(try await rig.send(.post, "/explain\(query)", control: true).status == 405)
  }
}
