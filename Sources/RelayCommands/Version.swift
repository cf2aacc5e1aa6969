/// The version that `--version`, `status` and the log show.
package enum Version {
  package static let text = "0.1.0"
}
