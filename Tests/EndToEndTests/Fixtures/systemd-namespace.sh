#!/usr/bin/env bash
# A real systemd as process 1 of namespaces of its own runs the units of this project, unchanged:
# it starts the daemon by its socket, hears READY, STATUS and the watchdog, reloads and stops it.
#
#   systemd-namespace.sh BINARY [CONFIGURATION-DIRECTORY]
#
# BINARY takes the place of /usr/bin/zonerelay. CONFIGURATION-DIRECTORY holds zonerelay.yaml and
# the files that it names under /etc/zonerelay; its store must be in /var/lib/zonerelay, its
# control socket in /run/zonerelay. Without one a small configuration is made up. Nothing of the host is changed: /etc, /usr and /var are
# overlays in memory, the network is a loopback of the namespace's own.
#
# Prints one line a fact. Exit: 0 all hold, 1 one does not, 77 this machine cannot run it (with the
# reason). Needs root, unshare, nsenter, systemd, curl and overlayfs.
set -u
here=$(cd "$(dirname "$0")" && pwd)
repository=$(cd "$here/../../.." && pwd)
units=/etc/zonerelay-units

cannot() {
  echo "cannot run here: $1" >&2
  exit 77
}

# --- inside the namespaces, until systemd takes over ---------------------------------------------

overlay() { # overlay DIRECTORY: writable, in memory
  local layer=$work/layers$1
  mkdir -p "$layer/upper" "$layer/work"
  mount -t overlay overlay -o "lowerdir=$1,upperdir=$layer/upper,workdir=$layer/work" "$1"
}

# Libraries from places that the sandbox of the unit hides come along.
copy_hidden_libraries() {
  local library
  ldd "$1" | awk '$3 ~ /^\/(root|home|tmp)\// {print $3}' | while read -r library; do
    cp "$library" /usr/local/lib/
  done
  ldconfig 2>/dev/null
}

write_targets() {
  mkdir -p "$units"
  for target in sysinit basic shutdown sockets network-online default; do
    printf '[Unit]\nDescription=%s\nDefaultDependencies=no\n' "$target" >"$units/$target.target"
  done
  printf '[Unit]\nDescription=journal socket\nDefaultDependencies=no\n[Socket]\n%s\n' \
    'ListenDatagram=/run/systemd/journal/socket
ListenStream=/run/systemd/journal/stdout
PassCredentials=yes' >"$units/systemd-journald.socket"
  printf '[Unit]\nDescription=journal\nDefaultDependencies=no\n[Service]\n%s\n' \
    'ExecStart=/lib/systemd/systemd-journald
Sockets=systemd-journald.socket
StandardOutput=null
FileDescriptorStoreMax=4224
Type=notify' >"$units/systemd-journald.service"
}

inside() { # inside WORK BINARY CONFIGURATION
  work=$1
  mount --make-rprivate / || exit 1
  mount -t tmpfs tmpfs "$work/memory" || exit 1
  cp "$2" "$work/memory/zonerelay" && cp -r "$3" "$work/memory/configuration" || exit 1
  work=$work/memory
  overlay /etc && overlay /usr && overlay /var || exit 1
  # Overlaid directories keep the places of libraries; only what the unit hides must move.
  copy_hidden_libraries "$work/zonerelay"
  install -m 0755 "$work/zonerelay" /usr/bin/zonerelay
  systemd-sysusers "$repository/systemd/zonerelay.sysusers" || exit 1
  rm -rf /etc/zonerelay /var/lib/zonerelay /var/log/journal
  cp -r "$work/configuration" /etc/zonerelay
  chown -R root:zonerelay /etc/zonerelay && chmod -R u=rwX,g=rX,o= /etc/zonerelay
  write_targets
  cp "$repository/systemd/zonerelay.service" "$repository/systemd/zonerelay.socket" "$units/"
  # Shorter than in the unit, so that a test sees it bite.
  mkdir -p "$units/zonerelay.service.d"
  printf '[Service]\nWatchdogSec=3s\n' >"$units/zonerelay.service.d/watchdog.conf"
  ip link set lo up || exit 1
  mount -t proc proc /proc
  mount -t tmpfs tmpfs /run && mkdir -p /run/systemd /run/lock
  umount -l /sys/fs/cgroup
  mount -t tmpfs tmpfs /sys/fs/cgroup && mount -t cgroup2 cgroup2 /sys/fs/cgroup || exit 1
  export container=x SYSTEMD_UNIT_PATH=$units
  unset NOTIFY_SOCKET LISTEN_FDS LISTEN_PID WATCHDOG_USEC
  exec /lib/systemd/systemd --system --unit=default.target --log-target=null
}

if [ "${1:-}" = --inside ]; then
  shift
  inside "$@"
fi

# --- outside -------------------------------------------------------------------------------------

[ $# = 1 ] || [ $# = 2 ] || { echo "usage: $0 BINARY [CONFIGURATION-DIRECTORY]" >&2; exit 64; }
binary=$1
configuration=${2:-}
[ "$(id -u)" = 0 ] || cannot "not root"
for tool in unshare nsenter systemctl journalctl systemd-sysusers ip curl ldd pgrep; do
  command -v "$tool" >/dev/null || cannot "no $tool"
done
[ -x /lib/systemd/systemd ] || cannot "no /lib/systemd/systemd"
[ -x "$binary" ] || { echo "no program $binary" >&2; exit 64; }

work=$(mktemp -d)
mkdir "$work/memory"
if [ -z "$configuration" ]; then
  configuration=$work/configuration
  mkdir "$configuration"
  printf 'user-%032d\n' 1 >"$configuration/user.key"
  printf 'producer-%032d\n' 1 >"$configuration/producer.key"
  cat >"$configuration/zonerelay.yaml" <<'YAML'
containers:
  - id: iCloud.com.example.notes
    environments:
      development:
        users: { sharedSecret: user.key }
        producers:
          - { name: records-1, bearer: producer.key }
YAML
fi
if [ ! -r "$configuration/zonerelay.yaml" ]; then
  echo "no $configuration/zonerelay.yaml" >&2
  rm -rf "$work"
  exit 64
fi
unshare --mount --pid --fork --uts --ipc --net --cgroup \
  "$0" --inside "$work" "$binary" "$configuration" >"$work/log" 2>&1 &
parent=$!
first=
finish() {
  [ -n "$first" ] && kill -KILL "$first" 2>/dev/null
  wait "$parent" 2>/dev/null
  rm -rf "$work"
}
trap finish EXIT

patient() { # patient COMMAND…: until it succeeds, 30 s at most
  local turn
  for turn in $(seq 150); do
    "$@" && return 0
    sleep 0.2
  done
  return 1
}

find_first() { first=$(pgrep -P "$parent" | head -n 1) && [ -n "$first" ]; }
within() { nsenter -t "$first" -m -p -i -u -n -C "$@"; }
answers() { within systemctl list-units >/dev/null 2>&1; }
property() { within systemctl show -P "$2" "$1"; }
is() { [ "$(property "$1" "$2")" = "$3" ]; }
http() { within curl -s -o /dev/null --noproxy '*' --max-time 20 -w '%{http_code}' "$1"; }

broken=0
holds() { # holds WHAT COMMAND…
  local what=$1
  shift
  if "$@"; then
    echo "ok: $what"
  else
    echo "FAILED: $what"
    broken=1
  fi
}

report() {
  within systemctl status --no-pager -n 0 zonerelay.service zonerelay.socket
  within journalctl --no-pager -n 60 -o short
  cat "$work/log"
}

service=zonerelay.service
socket=zonerelay.socket
patient find_first || { cat "$work/log"; cannot "the namespaces do not start"; }
patient answers || { cat "$work/log"; cannot "systemd does not start in the namespaces"; }
within systemctl start systemd-journald.socket systemd-journald.service

# Started by its socket.
holds "the socket unit listens" within systemctl start $socket
holds "nothing runs before anybody connects" is $service ActiveState inactive
code=$(http http://127.0.0.1:8460/health/live)
holds "the first connection starts the daemon and is answered (HTTP $code)" [ "$code" = 200 ]
holds "READY was heard" patient is $service ActiveState active
serves() { [ "$(http http://127.0.0.1:8460/health/ready)" = 200 ]; }
holds "it is ready to serve" patient serves
has_status() { [ -n "$(property $service StatusText)" ]; }
holds "it has a status" patient has_status
echo "    status: $(property $service StatusText)"
pid=$(property $service MainPID)
holds "it runs as its own user" [ "$(within ps -o user= -p "$pid")" = zonerelay ]
filtered() { grep -q '^Seccomp:[[:space:]]*2' "/proc/$(host_pid)/status"; }
host_pid() { pgrep --ns "$first" --nslist pid -f '/usr/bin/zonerelay serve' | head -n 1; }
holds "its system calls are filtered" filtered
in_journal() { [ -n "$(within journalctl -q -n 1 -u $service _PID="$pid" -o cat)" ]; }
holds "its log is in the journal" patient in_journal
has_fields() { [ -n "$(within journalctl -q -F ZONERELAY_LOGGER)" ]; }
holds "with fields of its own" patient has_fields

# The watchdog.
beat=$(property $service WatchdogTimestampMonotonic)
beats() { [ "$(property $service WatchdogTimestampMonotonic)" -gt "$((beat + 3000000))" ]; }
holds "the watchdog is beaten for longer than its interval" patient beats
holds "by the same process" is $service MainPID "$pid"

# What the sandbox refuses shows as failures of a library, or as denied calls.
at_peace() { ! within journalctl -q -u $service -o cat | grep -iE 'failed|not permitted|denied'; }
holds "the sandbox refuses nothing that it needs" at_peace

# Reload.
holds "it reloads" within systemctl reload $service
holds "and is active again" patient is $service ActiveState active
holds "without another process" is $service MainPID "$pid"
within cp /etc/zonerelay/zonerelay.yaml /etc/zonerelay/good.yaml
within sh -c 'echo "nonsense: true" >>/etc/zonerelay/zonerelay.yaml'
holds "it reloads a bad configuration" within systemctl reload $service
says() { property $service StatusText | grep -q "$1"; }
holds "and says that the old one stays" patient says "old configuration stays"
holds "while it is active" patient is $service ActiveState active
within cp /etc/zonerelay/good.yaml /etc/zonerelay/zonerelay.yaml
holds "it reloads the good one" within systemctl reload $service
holds "and says what it serves" patient says "serving"
holds "still without another process" is $service MainPID "$pid"

# A stuck loop.
within systemctl kill --kill-whom=main --signal=STOP $service
restarted() { is $service NRestarts 1 && is $service ActiveState active; }
holds "a process that is stuck is killed and started again" patient restarted

# Stop.
stops() { within systemctl stop $service 2>/dev/null; }
holds "it stops" stops
holds "cleanly" is $service Result success
holds "with exit code 0" is $service ExecMainStatus 0
gone() { [ -z "$(within pgrep -u zonerelay)" ]; }
holds "no process is left" gone
no_runtime() { ! within test -e /run/zonerelay; }
holds "no runtime directory is left" no_runtime
holds "the store is kept" within test -d /var/lib/zonerelay
holds "the socket still listens" is $socket ActiveState active
code=$(http http://127.0.0.1:8460/health/live)
holds "and starts it again (HTTP $code)" [ "$code" = 200 ]
within systemctl stop $service $socket
unheard() { [ "$(http http://127.0.0.1:8460/health/live)" = 000 ]; }
holds "after its socket stopped nobody listens" unheard

# A configuration that cannot work.
within sh -c 'echo "nonsense: true" >>/etc/zonerelay/zonerelay.yaml'
within systemctl reset-failed
refused() { ! within systemctl start $service 2>/dev/null; }
holds "a bad configuration is refused before the daemon starts" refused
given_up() { is $service ActiveState failed; }
holds "and the unit gives up" patient given_up
echo "    restarts: $(property $service NRestarts)"

[ $broken = 0 ] || report
exit $broken
