extension FindingCode {
  static let secretUnreadable = FindingCode(
    "secret_unreadable", .files, "the daemon's user may not read a secret",
    remedy: "let the daemon's group read it: chgrp GROUP FILE, chmod 0640 FILE; and enter its "
      + "directory: chmod 0750 DIRECTORY")
  static let secretOpen = FindingCode(
    "secret_open", .files, isWarning: true,
    "every user of the machine may read or write a secret", remedy: "close it: chmod o-rwx FILE")
  static let storeClosed = FindingCode(
    "store_closed", .files, "the daemon's user may not use a file of the store",
    remedy: "give the store to the daemon's user: chown -R USER:GROUP DIRECTORY")

  static let clockUnset = FindingCode(
    "clock_unset", .clock, "the machine's clock is years behind",
    remedy: "set it right: timedatectl set-ntp true")
  static let clockAhead = FindingCode(
    "clock_ahead", .clock, isWarning: true,
    "the machine's clock is more than an hour ahead of the relay's time",
    remedy: "look at it: timedatectl; if it is right, as after a long stop, the relay follows it "
      + "within an hour of its start")
  static let clockBehind = FindingCode(
    "clock_behind", .clock, isWarning: true, "the machine's clock is behind the relay's time",
    remedy: "look at it: timedatectl; if it is right, it was ahead before, and the relay's time "
      + "waits for it")
  static let clockDiffers = FindingCode(
    "clock_differs", .clock, "the machine's clock differs from the clock of a server",
    remedy: "set it right: timedatectl set-ntp true; providers and the relay refuse tokens of "
      + "another time")
  static let clockJumped = FindingCode(
    "clock_jumped", .clock, isWarning: true, "the machine's clock was set while the doctor looked",
    remedy: "look at what sets it: timedatectl, journalctl -u systemd-timesyncd")

  static let openFilesTooFew = FindingCode(
    "open_files_too_few", .limits, isWarning: true,
    "fewer files may be open than the configuration needs",
    remedy: "raise LimitNOFILE of the unit, or the hard limit of the shell; or lower "
      + "limits.connections and limits.courierConnections")
  static let diskFull = FindingCode(
    "disk_full", .disk, "the disk of the store is full",
    remedy: "make room on it; a daemon that runs goes on by itself, so do not restart it")
  static let diskReadOnly = FindingCode(
    "disk_read_only", .disk, "the disk of the store is mounted read-only",
    remedy: "look for disk errors (journalctl -k), then mount it for writing: mount -o "
      + "remount,rw MOUNT")
  static let diskUnwritable = FindingCode(
    "disk_unwritable", .disk, "nothing can be written to the store's directory",
    remedy: "look at the disk (journalctl -k) and at the directory's owner and mode; run the "
      + "doctor as root or as the daemon's user")
  static let diskNearlyFull = FindingCode(
    "disk_nearly_full", .disk, isWarning: true, "the disk of the store is nearly full",
    remedy: "make room on it before it is full")
  static let diskSlow = FindingCode(
    "disk_slow", .disk, isWarning: true, "the disk of the store is slow",
    remedy: "look at what else writes to it (iostat -x 1), and at disk errors (journalctl -k)")
}
