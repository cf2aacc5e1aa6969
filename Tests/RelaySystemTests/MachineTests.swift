import Foundation
import Testing

@testable import RelaySystem

/// What the relay reads from the machine about users, processes, ports and disks.
@Suite struct MachineTests {
  @Test func `a process tells its user, its limit of files and its name`() throws {
    let own = OtherProcess(getpid())
    #expect(own.user?.id == Int(geteuid()))
    #expect(own.user?.groups.contains(Int(getegid())) == true)
    #expect(own.openFilesMax == FileLimit.most)
    #expect(own.name?.isEmpty == false)
    let none = OtherProcess(.max)
    #expect(none.user == nil && none.openFilesMax == nil && none.name == nil)
  }

  @Test func `the ids and limits of a process are read from the kernel's text`() {
    let status = "Name:\tzonerelay\nUid:\t1\t4711\t3\t4\nGid:\t5\t4712\t7\t8\nGroups:\t9 10 \n"
    let user = OtherProcess.user(in: status)
    #expect(user == SystemUser(id: 4_711, groups: [4_712, 9, 10], name: "4711"))
    #expect(OtherProcess.user(in: "Uid:\t1\n") == nil)
    #expect(OtherProcess.hasEnded(in: "Name:\tzonerelay\nState:\tZ (zombie)\n"))
    #expect(!OtherProcess.hasEnded(in: "Name:\tzonerelay\nState:\tS (sleeping)\n"))
    let limits = "Limit        Soft Limit  Hard Limit  Units\nMax open files   1024  65536  files\n"
    #expect(OtherProcess.openFilesMax(in: limits) == 65_536)
    let none = limits.replacing("65536", with: "unlimited")
    #expect(OtherProcess.openFilesMax(in: none) == .max)
    #expect(OtherProcess.openFilesMax(in: "") == nil)
  }

  @Test func `the kernel's table names the sockets that listen on a port`() {
    let table = """
        sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout
         0: 0100007F:210C 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 77 1
         1: 0100007F:210C 0100007F:9C40 01 00000000:00000000 00:00000000 00000000 0 0 78 1
         2: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 79 1
      """
    #expect(PortHolder.listening(in: table, port: 8_460) == ["socket:[77]"])
    #expect(PortHolder.listening(in: table, port: 22) == ["socket:[79]"])
    #expect(PortHolder.listening(in: table, port: 80).isEmpty)
  }

  @Test func `the kernel's table names the addresses of sockets`() {
    let table = """
        sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout
         0: 0100007F:210C 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 77 1
         1: 0100007F:210D 0100007F:9C40 01 00000000:00000000 00:00000000 00000000 0 0 78 1
         2: 00000000000000000000000001000000:01BB 0:0 0A 0:0 00:00000000 00000000 0 0 79 1
         3: oddly:01BB 0:0 0A 0:0 00:00000000 00000000 0 0 80 1
      """
    let found = PortHolder.listening(in: table)
    #expect(found.map(\.link) == ["socket:[77]", "socket:[79]"])
    #expect(found.map(\.host) == ["127.0.0.1", "::1"] && found.map(\.port) == [8_460, 443])
  }

  @Test func `a process tells the addresses that it listens on`() throws {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    // The system chooses a port, because the socket has no address yet.
    #expect(listen(descriptor, 1) == 0)
    let own = PortHolder.addresses(of: OtherProcess(getpid()))
    #expect(own.contains { $0.host == "0.0.0.0" && $0.port > 0 }, "\(own)")
    #expect(PortHolder.addresses(of: OtherProcess(.max)).isEmpty)
    #expect(!OtherProcess(.max).hasInheritedSockets)
  }

  @Test func `a mode allows what it gives to the owner, the group or all others`() {
    let file = FilePermissions(owner: 1, group: 2, mode: 0o640)
    let owner = SystemUser(id: 1, groups: [9], name: "owner")
    let member = SystemUser(id: 3, groups: [2, 9], name: "member")
    let other = SystemUser(id: 3, groups: [9], name: "other")
    let root = SystemUser(id: 0, groups: [0], name: "root")
    #expect(file.allow(owner, [.read, .write]) && !file.allow(owner, .enter))
    #expect(file.allow(member, .read) && !file.allow(member, .write))
    #expect(!file.allow(other, .read))
    #expect(file.allow(root, [.read, .write, .enter]))
    // The owner has the owner's rights, even if those of the group are wider.
    let odd = FilePermissions(owner: 1, group: 9, mode: 0o070)
    #expect(!odd.allow(owner, .read))
  }

  @Test func `a file's permissions and those of its directories are read`() throws {
    let directory = FileManager.default.temporaryDirectory
      .appendingPathComponent("zonerelay-machine-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    // A temporary directory that is left behind does no harm.
    defer { try? FileManager.default.removeItem(at: directory) }
    let file = directory.appendingPathComponent("secret").path
    #expect(FilePermissions.of(file) == nil)
    #expect(
      FileManager.default.createFile(
        atPath: file, contents: Data(), attributes: [.posixPermissions: 0o640]))
    #expect(FilePermissions.of(file)?.mode == 0o640)
    #expect(FilePermissions.of(file)?.owner == Int(geteuid()))
    let above = try #require(FilePermissions.above(file))
    #expect(above.count == directory.resolvingSymlinksInPath().pathComponents.count)
    #expect(above.last == FilePermissions.of("/"))
  }

  @Test func `a trial of a disk writes, and leaves nothing`() throws {
    let directory = FileManager.default.temporaryDirectory
      .appendingPathComponent("zonerelay-disk-\(UUID().uuidString)")
    #expect(DiskTrial.run(in: directory.path).failure == ENOENT)
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    // A temporary directory that is left behind does no harm.
    defer { try? FileManager.default.removeItem(at: directory) }
    let trial = DiskTrial.run(in: directory.path)
    #expect(trial.failure == nil && trial.took > .zero)
    #expect(trial.free.map { $0 > 0 } == true)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
    // In the process's own directory in /proc no user can create a file.
    #expect(DiskTrial.run(in: "/proc/self").failure != nil)
  }
}
