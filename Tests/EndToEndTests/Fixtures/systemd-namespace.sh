#!/usr/bin/env bash
# A real systemd as process 1 of namespaces of its own runs the units of this project, unchanged:
# it starts the daemon by its socket, hears READY, STATUS and the watchdog, reloads it while devices
# hold their connections, kills it when it is stuck, and stops it.
#
#   systemd-namespace.sh BINARY
#
# BINARY takes the place of /usr/bin/zonerelay; it also plays Apple. Nothing of the host is changed:
# /etc, /usr and /var are overlays in memory, the network is a loopback of the namespace's own.
#
# Prints one line a fact. Exit: 0 all hold, 1 one does not, 77 this machine cannot run it (with the
# reason). Needs root, unshare, nsenter, systemd, curl, openssl and overlayfs.
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

[ $# = 1 ] || { echo "usage: $0 BINARY" >&2; exit 64; }
binary=$1
[ "$(id -u)" = 0 ] || cannot "not root"
for tool in unshare nsenter systemctl journalctl systemd-sysusers ip curl openssl ldd pgrep; do
  command -v "$tool" >/dev/null || cannot "no $tool"
done
[ -x /lib/systemd/systemd ] || cannot "no /lib/systemd/systemd"
[ -x "$binary" ] || { echo "no program $binary" >&2; exit 64; }

work=$(mktemp -d)
mkdir "$work/memory"
configuration=$work/configuration
mkdir "$configuration"
user_key=$(printf 'user-%032d' 1)
producer_key=$(printf 'producer-%032d' 1)
echo "$user_key" >"$configuration/user.key"
echo "$producer_key" >"$configuration/producer.key"

environment() { # environment CONTAINER [TOPIC]: its part of the configuration
  cat <<YAML
  - id: iCloud.com.example.$1
    environments:
      development:
        users: { sharedSecret: user.key }
        producers:
          - { name: records-1, bearer: producer.key }
YAML
  [ $# = 1 ] || cat <<YAML
        apns:
          - topic: $2
            key: { path: apns/AuthKey.p8, keyID: ABCDE12345, teamID: TEAM123456 }
            endpoint: https://127.0.0.1:8443
            trustRoots: apns/ca.pem
YAML
}
head='budget: { background: { max: 60, per: 1h } }
containers:'
{ echo "$head" && environment notes com.example.notes && environment leaving; } \
  >"$configuration/zonerelay.yaml"
{ echo "$head" && environment notes com.example.notes && environment coming com.example.coming; } \
  >"$configuration/next.yaml"
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

# Apple, played.
within /usr/bin/zonerelay apns-standin --listen 127.0.0.1:8443 --directory /etc/zonerelay/apns \
  >"$work/standin" 2>&1 &
plays() { grep -q '^ready$' "$work/standin"; }
holds "the stand-in listens" patient plays
within sh -c 'chgrp -R zonerelay /etc/zonerelay/apns && chmod -R g+rX /etc/zonerelay/apns'

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
go_first() { # the engine's: its loop, commits and folds
  [ "$(sed 's/.*) //' "/proc/$(host_pid)"/task/*/stat | cut -d' ' -f17 | grep -cx -- -10)" = 3 ]
}
known='^$'
if within prlimit --nice=30:30 true 2>/dev/null; then
  holds "three threads go before the others" patient go_first
else
  echo "skipped: three threads go before the others: this machine lets no limit be raised"
  # Dispatch says that it was refused a priority.
  known='Failed to set thread priority'
fi
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
at_peace() {
  ! within journalctl -q -u $service -o cat | grep -v "$known" |
    grep -iwE 'failed|not permitted|denied'
}
holds "the sandbox refuses nothing that it needs" at_peace

# --- devices, a producer, and what they hold ----------------------------------------------------

base64url() { openssl base64 -A | tr '+/' '-_' | tr -d '='; }
signed=$(printf '{"alg":"HS256","typ":"JWT"}' | base64url).$(printf \
  '{"sub":"_abc","aud":["iCloud.com.example.notes","iCloud.com.example.coming"],"exp":%d}' \
  $(($(date +%s) + 3600)) | base64url)
token=$signed.$(printf '%s' "$signed" | openssl dgst -sha256 -hmac "$user_key" -binary | base64url)
api=http://127.0.0.1:8460

ask() { # ask KEY PATH BODY [TYPE]: prints the answer, its status on a line of its own
  within curl -s --noproxy '*' --max-time 20 -w '\n%{http_code}' -H "Authorization: Bearer $1" \
    -H "Content-Type: ${4:-application/json}" -d "$3" "$api$2"
}
status_of() { "$@" | tail -n 1; }
device() { ask "$token" "/$1/1/iCloud.com.example.$2/development/$3" "$4"; }
event() { # event CONTAINER RECORD
  printf '{"specversion":"1.0","id":"%s","source":"/r","type":"zonerelay.record.created",
    "data":{"database":"private","zoneID":{"zoneName":"Z","ownerRecordName":"_abc"},
    "record":{"recordName":"%s","recordType":"A","recordChangeTag":"1"}}}' "$2" "$2"
}
report_change() { # report_change CONTAINER RECORD: prints the status
  status_of ask "$producer_key" "/events/1/iCloud.com.example.$1/development" "$(event "$@")" \
    application/cloudevents+json
}
change() { [ "$(report_change "$1" "$2")" = "${3:-202}" ]; }
subscribe() { # subscribe CONTAINER
  status_of device database "$1" private/subscriptions/modify '{"operations":[
    {"operationType":"create","subscription":{"subscriptionID":"z","subscriptionType":"zone",
    "zoneID":{"zoneName":"Z","ownerRecordName":"_abc"},
    "notificationInfo":{"shouldSendContentAvailable":true}}}]}'
}
courier() { # courier: another device of the courier; prints its address
  device device notes tokens/create '{"apnsEnvironment":"development"}' |
    grep -o 'http://[^"]*/courier/1/[^"]*'
}
register() { # register CONTAINER PUSH-TOKEN
  status_of device device "$1" tokens/register \
    "{\"apnsEnvironment\":\"development\",\"apnsToken\":\"$2\"}"
}
pushes() { # pushes PUSH-TOKEN: what Apple took, one line each
  within cat /etc/zonerelay/apns/pushes.jsonl | grep "/3/device/$1\".*\"status\":200"
}
is_pushed() { [ "$(pushes "$1" | wc -l)" -ge "$2" ]; }
roads() { pushes "$1" | grep -o '"connection":[0-9]*' | sort -u | wc -l; }
lives() { kill -0 "$1" 2>/dev/null; }
ended() { ! lives "$1"; }
hold() { # hold FILE URL [OPTION…]: a connection of its own, held in the background
  local file=$1 url=$2
  shift 2
  within curl -sN --noproxy '*' --max-time 120 "$@" "$url" >"$file" &
}
connections() { # as the daemon counts them
  within curl -s --unix-socket /run/zonerelay/control.sock http://relay/metrics |
    grep -q "^zonerelay_courier_connections $1\$"
}

# One connection for many requests: a path in, a status out.
keep() {
  local path code header length
  exec 3<>/dev/tcp/127.0.0.1/8460
  while read -r path; do
    printf 'GET %s HTTP/1.1\r\nHost: relay\r\n\r\n' "$path" >&3
    read -r _ code _ <&3 || { echo dropped; return; }
    length=0
    while read -r header <&3 && [ "$header" != $'\r' ]; do
      case ${header,,} in content-length:*) length=${header//[^0-9]/} ;; esac
    done
    [ "$length" = 0 ] || read -r -N "$length" _ <&3
    echo "$code"
  done
}
coproc KEPT { within bash -c "$(declare -f keep); keep"; }
kept() { # kept PATH: asks on the kept connection; true if it was answered with 200
  local code
  echo "$1" >&"${KEPT[1]}" && read -r -t 20 code <&"${KEPT[0]}" && [ "$code" = 200 ]
}

phone=$(printf 'ab%.0s' $(seq 32))
other=$(printf 'cd%.0s' $(seq 32))
[ "$(subscribe notes)" = 200 ] && [ "$(register notes "$phone")" = 200 ] || report
poll_url=$(courier)
stream_url=$(courier)
hold "$work/stream" "$stream_url" -H 'Accept: text/event-stream'
stream=$!
hold "$work/poll" "$poll_url" -w '%{http_code}'
poll=$!
holds "a poll and a stream are held" patient connections 2
holds "a connection is kept open" kept /health/ready
holds "a change is taken" change notes A
holds "the phone is pushed" patient is_pushed "$phone" 1
holds "the poll is told" patient ended $poll
hold "$work/poll" "$poll_url" -w '%{http_code}'
poll=$!
holds "and polls again" patient connections 2

# Reload, while all of them hold on.
within systemctl log-target journal
within systemctl log-level debug
holds "the container that leaves is there" change leaving A
holds "the one that comes is not" change coming A 404
within cp /etc/zonerelay/zonerelay.yaml /etc/zonerelay/before.yaml
within cp /etc/zonerelay/next.yaml /etc/zonerelay/zonerelay.yaml
holds "it reloads" within systemctl reload $service
holds "the container that comes serves" patient change coming B
holds "the one that leaves does not" change leaving B 404
holds "and is active again" patient is $service ActiveState active
holds "without another process" is $service MainPID "$pid"
notified() { within journalctl -q _PID=1 -o cat | grep -q "Got notification message.*$1"; }
holds "systemd heard that it reloads" patient notified RELOADING=1
back() { within journalctl -q _PID=1 -o cat | grep -q "$service: Changed reload -> running"; }
holds "and that it was ready again" patient back
within systemctl log-level info
holds "the stream was not dropped" lives $stream
holds "nor was the poll" lives $poll
holds "both are the daemon's" patient connections 2
holds "the kept connection is answered" kept /health/ready
holds "a change is taken as before" change notes B
holds "the poll that was held is told of it" patient ended $poll
tells() { grep -q '"zid":"Z".*}200$' "$work/poll"; }
holds "with a wake" tells
streams() { [ "$(grep -c '^data:.*"zid":"Z"' "$work/stream")" -ge "$1" ] && lives $stream; }
holds "so is the stream" patient streams 2
holds "the phone is pushed again" patient is_pushed "$phone" 2
holds "over the connection to Apple that was there before" [ "$(roads "$phone")" = 1 ]
[ "$(subscribe coming)" = 200 ] && [ "$(register coming "$other")" = 200 ] || report
holds "a change in the container that came" change coming C
holds "is pushed over its own route" patient is_pushed "$other" 1

# A bad configuration changes nothing.
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
holds "and the stream is still the first one" streams 2

# A stuck daemon, in the middle of work: changes come in one after another.
within env key="$producer_key" body="$(event notes @)" bash -c '
  for number in $(seq 2000); do
    code=$(curl -s -o /dev/null --noproxy "*" --max-time 30 -w "%{http_code}" \
      -H "Authorization: Bearer $key" -H "Content-Type: application/cloudevents+json" \
      -d "${body//@/N$number}" http://127.0.0.1:8460/events/1/iCloud.com.example.notes/development)
    [ "$code" = 202 ] || exit
    echo "N$number"
  done' >"$work/taken" &
producer=$!
hold "$work/poll" "$poll_url" -w '%{http_code}'
poll=$!
took() { [ "$(wc -l <"$work/taken")" -ge "$1" ]; }
holds "changes come in" patient took 20
within systemctl kill --kill-whom=main --signal=STOP $service
restarted() { is $service NRestarts 1 && is $service ActiveState active; }
holds "a process that is stuck is killed and started again" patient restarted
overdue() { within journalctl -q _PID=1 -o cat | grep -q "$service: Watchdog timeout"; }
holds "by the watchdog" patient overdue
pid=$(property $service MainPID)
holds "it serves again" patient serves
holds "the producer noticed" patient ended $producer
holds "the stream ended with the process" patient ended $stream
holds "so did the poll" patient ended $poll
echo "    changes taken before: $(wc -l <"$work/taken")"
record_names() { # of the zone's feed
  local more=true page mark=
  while [ "$more" = true ]; do
    page=$(device database notes private/changes/zone "{\"zones\":[{\"zoneID\":
      {\"zoneName\":\"Z\",\"ownerRecordName\":\"_abc\"}${mark:+,\"syncToken\":\"$mark\"}}]}")
    echo "$page" | grep -o '"recordName":"[^"]*"' | cut -d '"' -f 4
    mark=$(echo "$page" | grep -o '"syncToken":"[^"]*"' | cut -d '"' -f 4)
    more=$(echo "$page" | grep -o '"moreComing":[a-z]*' | cut -d : -f 2)
  done
}
record_names | sort >"$work/feed"
whole() { [ -z "$(sort "$work/taken" | comm -23 - "$work/feed")" ]; }
holds "every change that was taken is in the feed" whole
hold "$work/poll" "$poll_url" -w '%{http_code}'
poll=$!
hold "$work/stream" "$stream_url" -H 'Accept: text/event-stream'
stream=$!
change notes Z || report
holds "a device that polls is served again" patient tells
holds "so is one that streams" patient streams 1
count=$(pushes "$phone" | wc -l)
change notes Y || report
holds "and one that is pushed" patient is_pushed "$phone" $((count + 1))

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

# A stop that waits for a verdict takes longer than its unit grants.
silent=6d757465$(printf 'ef%.0s' $(seq 28))
patient serves && [ "$(register notes "$silent")" = 200 ] || report
change notes M || report
is_asked() { within grep -q "/3/device/$silent" /etc/zonerelay/apns/pushes.jsonl; }
holds "Apple keeps silent about a push" patient is_asked
within sh -c "printf '[Service]\nTimeoutStopSec=1s\n' >$units/zonerelay.service.d/stop.conf"
within systemctl daemon-reload
before=$(date +%s)
holds "it stops" stops
holds "after longer than its unit grants" [ $(($(date +%s) - before)) -ge 2 ]
holds "and is not killed for it" is $service Result success

within systemctl stop $service $socket
unheard() { [ "$(http http://127.0.0.1:8460/health/live)" = 000 ]; }
holds "after its socket stopped, no process listens" unheard

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
