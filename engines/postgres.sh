#!/usr/bin/env bash
# A PostgreSQL to compare with: Debian's own package, in a folder of its own.
#
#   postgres.sh install              install the package if it is missing (as root)
#   postgres.sh start [port=5432]    install if needed, start, wait until it answers
#   postgres.sh stop [port=5432]     end the one that this script started on that port
#   postgres.sh url [port=5432]      where it answers, for clients
#
# Environment:
#   ENGINES_HOME   where everything is kept (.engines in the project's root); delete it to start empty.
#
# PostgreSQL refuses to run as root: started by root it runs as the user postgres, whom the package makes. Where that user
# cannot enter the project's folder, and ENGINES_HOME is not set, everything is kept in /var/tmp/merkato-engines.
# It listens on 127.0.0.1 and on a socket in its folder, and asks nobody who they are: not for a machine of many users.
# Only a process that this script started is ever ended: by the pid it wrote, while that pid is still that process.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
home=${ENGINES_HOME:-$here/../.engines}/postgres
start_seconds_max=60
stop_seconds_max=60
# Bytes of a socket's address, on Linux, without the zero at its end.
socket_path_max=107

usage() {
  sed -n '2,/^set /s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
  exit 2
}

fail() {
  echo "postgres: $*" >&2
  exit 1
}

port=${2:-5432}
[[ $port =~ ^[1-9][0-9]{0,4}$ && $port -le 65535 ]] || fail "the port must be a number from 1 to 65535, not '$port'"

# Whether everybody may enter a folder.
open_to_all() { # absolute path
  local folder=$1
  until [ "$folder" = / ]; do
    [[ $(stat -L -c %A "$folder") == *[xt] ]] || return 1
    folder=$(dirname "$folder")
  done
}

mkdir -p "$home"
home=$(cd "$home" && pwd)
if [ "$(id -u)" = 0 ] && [ -z "${ENGINES_HOME:-}" ] && ! open_to_all "$home"; then
  home=/var/tmp/merkato-engines/postgres
  mkdir -p "$home"
fi
dir=$home/port-$port
data=$dir/data
socket=$dir/socket

# The folder of the newest server's programs; Debian keeps them off the PATH.
programs() {
  local found
  found=$(printf '%s\n' /usr/lib/postgresql/*/bin/postgres | sort -V | tail -n 1)
  if [ -x "$found" ]; then
    dirname "$found"
  elif found=$(command -v postgres); then
    dirname "$(readlink -f "$found")"
  else
    return 1
  fi
}

install() {
  programs >/dev/null && return
  [ "$(id -u)" = 0 ] || fail "PostgreSQL was not found; install it (Debian: postgresql), or run this as root"
  command -v apt-get >/dev/null || fail "PostgreSQL was not found, and neither was apt-get; install it"
  echo "postgres: installing Debian's package"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  # The package would make a database of its own, and start it; this machine was not asked for one.
  apt-get install -y -qq --no-install-recommends postgresql-common >/dev/null
  sed -i 's/^#\?create_main_cluster.*/create_main_cluster = false/' /etc/postgresql-common/createcluster.conf
  apt-get install -y -qq --no-install-recommends postgresql >/dev/null
  programs >/dev/null || fail "the package is installed, but its programs are not in /usr/lib/postgresql"
}

# As somebody who is not root.
as_user() {
  if [ "$(id -u)" = 0 ]; then runuser -u postgres -- "$@"; else "$@"; fi
}

listens() { (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; }

# Its pid if it runs. A pid file may outlive its process, and the number may belong to someone else by then.
running() {
  local pid
  [ -e "$data/postmaster.pid" ] && pid=$(head -n 1 "$data/postmaster.pid") && [[ $pid =~ ^[0-9]+$ ]] || return 1
  tr '\0' '\n' 2>/dev/null <"/proc/$pid/cmdline" | grep -qxF -- "$data" || return 1
  echo "$pid"
}

# What the manual advises, and otherwise what it ships with: a quarter of the memory for pages (1 GiB holds all there is
# to compare). Every commit is synced, as it is on the other side.
configure() {
  local quarter_mib
  quarter_mib=$(awk '/^MemTotal:/ { print int($2 / 4096) }' /proc/meminfo)
  cat >"$dir/settings.conf" <<CONF
listen_addresses = '127.0.0.1'
port = $port
unix_socket_directories = '$socket'
unix_socket_permissions = 0700
shared_buffers = $((quarter_mib < 1024 ? quarter_mib : 1024))MB
fsync = on
synchronous_commit = on
CONF
}

start() {
  local bin
  bin=$(programs)
  if running >/dev/null; then
    echo "postgres: runs already, $(url)"
    return
  fi
  if listens; then fail "port $port is taken by another; give another port"; fi
  ((${#socket} + ${#port} + 11 <= socket_path_max)) || fail "$socket is too long for a socket; set ENGINES_HOME"
  mkdir -p "$dir" "$socket"
  configure
  if [ "$(id -u)" = 0 ]; then chown -R postgres "$dir"; fi
  as_user test -w "$dir" || fail "the user postgres cannot reach $dir; set ENGINES_HOME to a folder that all may enter"
  # From a folder that the user may enter, or the programs complain of the present one.
  cd "$dir"
  if [ ! -e "$data/PG_VERSION" ]; then
    # Into another folder first, so that a broken start never looks like a database.
    rm -rf "$data.partial"
    as_user "$bin/initdb" -D "$data.partial" -U merkato --auth=trust --encoding=UTF8 --locale=C >"$dir/initdb.log" 2>&1 ||
      fail "initdb failed; see $dir/initdb.log"
    echo "include '$dir/settings.conf'" >>"$data.partial/postgresql.conf"
    mv "$data.partial" "$data"
  fi
  if ! as_user "$bin/pg_ctl" start -w -t "$start_seconds_max" -D "$data" -l "$dir/stdout.log" </dev/null >/dev/null; then
    tail -n 20 "$dir/stdout.log" >&2
    stop
    fail "it did not start; see $dir/stdout.log"
  fi
  echo "postgres: answers, $(url)"
}

# The socket: without the work of TCP it is the fastest that PostgreSQL has.
url() { echo "host=$socket port=$port user=merkato dbname=postgres"; }

stop() {
  local pid tick
  if pid=$(running); then
    # At once, but in good order: the interrupt ends sessions and writes a checkpoint.
    kill -INT "$pid" 2>/dev/null || true
    for ((tick = 0; tick < stop_seconds_max * 10; tick++)); do
      running >/dev/null || break
      sleep 0.1
    done
    # It ends its own children too, unlike one that is killed.
    if running >/dev/null; then
      kill -QUIT "$pid" 2>/dev/null || true
      sleep 6
    fi
    ! running >/dev/null || fail "it (pid $pid) does not end"
    echo "postgres: stopped"
  fi
}

case ${1:-} in
  install) install ;;
  start)
    install
    start
    ;;
  stop) stop ;;
  url) url ;;
  *) usage ;;
esac
