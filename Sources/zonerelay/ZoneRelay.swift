import RelayCommands

/// The binary's entry point; RelayCommands contains all its code.
@main
enum ZoneRelay {
  static func main() async { await CommandLineTool.main() }
}
