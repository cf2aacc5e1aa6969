import Foundation
import RelayEngine
import RelaySystem
import Testing

/// The process measures its own files, sockets and connections.
@Suite(.serialized) struct OwnProcessTests {
  @Test func `the usage counts open files and stays within the limit`() throws {
    let before = OwnProcess.usage()
    let handles = try (0..<64).map { _ in
      try #require(FileHandle(forReadingAtPath: "/dev/null"))
    }
    let during = OwnProcess.usage()
    for handle in handles { try handle.close() }
    // Other tests of this process open and close files, too.
    #expect(during.openFiles >= before.openFiles + 32)
    #expect(during.openFiles <= during.openFilesMax)
  }

  @Test func `the usage reports resident memory and growing CPU time`() {
    let first = OwnProcess.usage()
    #expect(first.residentBytes > 1_000_000)
    var sum = 0
    for number in 0..<2_000_000 { sum &+= number * number }
    #expect(sum != 1)
    let second = OwnProcess.usage()
    #expect(second.cpuSeconds > first.cpuSeconds)
  }
}
