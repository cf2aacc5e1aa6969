import RelayCommands

/// The binary: everything it does is in RelayCommands.
@main
enum ZoneRelay {
  static func main() async { await CommandLineTool.main() }
}
