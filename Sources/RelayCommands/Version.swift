/// What `--version`, `status` and the log say this is.
package enum Version {
  package static let text = "0.1.0"
}
