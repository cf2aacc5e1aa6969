/// A self-signed certificate, only for tests on loopback.
enum LoopbackCertificate {
  static let certificate = """
    -----BEGIN CERTIFICATE-----
    MIIBfjCCASWgAwIBAgIUHCAiay2QYpAHrmY7uJ4C7AlFf3IwCgYIKoZIzj0EAwIw
    FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMTA3MDMwMVoYDzIxMjYxMDI4
    MDcwMzAxWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
    PQMBBwNCAASJMdGratMEWx7DYQdiT1AoRhEn4XnPaeJdzMfccoALgo/EfB7dA1j/
    ir0NL1CXqg8hi3tEKEOtZiUjLb9v/oBuo1MwUTAdBgNVHQ4EFgQU2plYfIh+yQAu
    kuS0fZPMwRFA+5UwHwYDVR0jBBgwFoAU2plYfIh+yQAukuS0fZPMwRFA+5UwDwYD
    VR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNHADBEAiA1k1hfzVlHiHTxBv6CJK1I
    B8htEuyhXxKLzLcRugDHBAIgRzDNY6SdW3sYW13ofziumOaQ+yL8bsMxpCquuRQW
    6ic=
    -----END CERTIFICATE-----
    """

  static let key = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgriggzo3SS/sb4pF3
    KkeI6OOmN6DsPaRw25wdB0xNwfWhRANCAASJMdGratMEWx7DYQdiT1AoRhEn4XnP
    aeJdzMfccoALgo/EfB7dA1j/ir0NL1CXqg8hi3tEKEOtZiUjLb9v/oBu
    -----END PRIVATE KEY-----
    """
}
