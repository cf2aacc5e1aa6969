import RelayCore

extension Section {
  /// The path of a file. `${CREDENTIALS_DIRECTORY}` is expanded; relative paths start from the
  /// configuration's directory.
  var path: ValueParser<String> {
    let (credentials, directory) = (
      diagnostics.overrides.credentialsDirectory, diagnostics.directory
    )
    return ValueParser.any.then(show: { $0 }) { text throws(ValueError) in
      var path = text
      if path.contains("${CREDENTIALS_DIRECTORY}") {
        guard let credentials else {
          throw ValueError(
            "CREDENTIALS_DIRECTORY is not set",
            remedy: "start under systemd with LoadCredential=, or set it, or name a plain path")
        }
        path = path.replacing("${CREDENTIALS_DIRECTORY}", with: credentials)
      }
      guard !path.contains("${") else {
        throw ValueError(
          "'\(text)' names an unknown variable",
          remedy: "only ${CREDENTIALS_DIRECTORY} is expanded in paths")
      }
      guard !path.isEmpty else { throw ValueError("is empty", remedy: "write the path of a file") }
      return path.hasPrefix("/") ? path : "\(directory)/\(path)"
    }
  }

  /// A file with a secret of any size.
  var secret: ValueParser<Secret> {
    path.then(show: \.description) { [diagnostics] path throws(ValueError) in
      let secret = try FileBytes.secret(path)
      diagnostics.secretFiles.append(secret.path)
      return secret
    }
  }

  /// A file with a secret of `min` to `max` bytes.
  func secret(min: Int, max: Int = 4_096, _ what: String) -> ValueParser<Secret> {
    secret.checked { secret throws(ValueError) in
      guard (min...max).contains(secret.bytes.count) else {
        throw ValueError(
          "\(secret.path) holds \(secret.bytes.count) bytes",
          remedy: "put \(what) of \(min) to \(max) bytes into it")
      }
    }
  }

  /// A file with a secret of printable ASCII without blanks, because the secret is sent in a
  /// header.
  func headerSecret(min: Int, _ what: String) -> ValueParser<Secret> {
    secret(min: min, what).checked { secret throws(ValueError) in
      guard secret.bytes.allSatisfy({ (0x21...0x7e).contains($0) }) else {
        throw ValueError(
          "\(secret.path) holds a blank, a line break or another character no header can carry",
          remedy: "put one line of printable ASCII without blanks into it")
      }
    }
  }

  /// A file with a key of 32 bytes, written as 64 hexadecimal characters.
  var tokenKey: ValueParser<Secret> {
    secret.then(show: \.description) { secret throws(ValueError) in
      guard let bytes = Hex.bytes(secret.text), bytes.count == 32 else {
        throw ValueError(
          "\(secret.path) is not 64 hexadecimal characters",
          remedy: "make one with: openssl rand -hex 32")
      }
      return Secret(path: secret.path, bytes: bytes)
    }
  }

  /// A PEM file that holds at least one block whose label ends with `label`.
  func pem(_ label: String) -> ValueParser<String> {
    path.checked { [diagnostics] file throws(ValueError) in
      if label == "PRIVATE KEY" { diagnostics.secretFiles.append(file) }
      let content = String(decoding: try FileBytes.read(file), as: UTF8.self)
      let begins = content.split(whereSeparator: \.isNewline).contains {
        $0.hasPrefix("-----BEGIN ") && $0.hasSuffix("\(label)-----")
      }
      guard begins else {
        throw ValueError(
          "\(file) holds no \(label.lowercased()) in PEM",
          remedy: "name a PEM file that contains -----BEGIN \(label)-----")
      }
    }
  }

  /// The files of a certificate with its chain, and of the certificate's key. Both must be given; a
  /// missing one is reported.
  ///
  /// - Parameter name: the key of the certificate's path.
  func certificateFiles(_ name: String = "certificate") -> (certificate: String, key: String)? {
    // Read both keys before checking either: a key that is never read counts as unknown.
    let certificate = required(name, pem("CERTIFICATE"))
    let key = required("key", pem("PRIVATE KEY"))
    guard let certificate, let key else { return nil }
    return (certificate, key)
  }
}
