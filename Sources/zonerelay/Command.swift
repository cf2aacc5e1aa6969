import RelayCommands

/// The binary: everything it does is in RelayCommands.
@main
enum Command {
  static func main() async { await CommandLineTool.main() }
}
