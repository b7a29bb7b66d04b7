#!/usr/bin/env bash
# Amazon's own DynamoDB Local, for tests.
#
#   dynamodb.sh start [port=8000]    fetch if needed, start, wait until it answers
#   dynamodb.sh stop [port=8000]     end the one that this script started on that port
#
# Environment:
#   ENGINES_HOME   where everything is kept (.engines in the project's root); delete it to start empty.
#   JAVA_HOME      the Java to use, if not the one on the PATH.
#
# All access keys and regions share one database. It listens on all of the machine's addresses and asks nobody who they
# are: not for a machine that strangers can reach.
# Only a process that this script started is ever ended: by the pid it wrote, while that pid is still that process.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
home=${ENGINES_HOME:-$here/../.engines}/dynamodb
start_seconds_max=60

usage() {
  sed -n '2,/^set /s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
  exit 2
}

fail() {
  echo "dynamodb: $*" >&2
  exit 1
}

port=${2:-8000}
[[ $port =~ ^[1-9][0-9]{0,4}$ && $port -le 65535 ]] || fail "the port must be a number from 1 to 65535, not '$port'"
mkdir -p "$home"
home=$(cd "$home" && pwd)
lib=$home/lib
dir=$home/port-$port
java=${JAVA_HOME:+$JAVA_HOME/bin/}java

need_java() {
  command -v "$java" >/dev/null || fail "'$java' was not found; install Java 17 (Debian: openjdk-17-jre-headless)"
  local version
  version=$("$java" -XshowSettings:properties -version 2>&1 | sed -n 's/^ *java\.specification\.version = //p')
  [[ $version =~ ^[0-9]+$ && $version -ge 17 ]] || fail "'$java' is Java $version; 17 or newer is needed"
}

install() {
  need_java
  [ -d "$lib" ] && return
  command -v mvn >/dev/null || fail "'mvn' was not found; install Maven to fetch DynamoDB Local (Debian: maven)"
  echo "dynamodb: fetching the jars"
  # Into another folder first, so that a broken download never looks like an installation.
  rm -rf "$lib.partial"
  mvn -q -B -Dstyle.color=never -f "$here/dynamodb-pom.xml" dependency:copy-dependencies -DoutputDirectory="$lib.partial"
  mv "$lib.partial" "$lib"
}

listens() { (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; }

# Its pid if it runs. A pid file may outlive its process, and the number may belong to someone else by then.
running() {
  local pid
  [ -e "$dir/pid" ] && pid=$(<"$dir/pid") && [ -n "$pid" ] || return 1
  tr '\0' '\n' 2>/dev/null <"/proc/$pid/cmdline" | grep -qxF -- "$dir/data" || return 1
  echo "$pid"
}

start() {
  if running >/dev/null; then
    echo "dynamodb: runs already on 127.0.0.1:$port"
    return
  fi
  if listens; then fail "port $port is taken by another; give another port"; fi
  mkdir -p "$dir/data"
  nohup "$java" -Xmx512m -Djava.library.path="$lib" \
    -cp "$lib/*" software.amazon.dynamodb.services.local.main.ServerRunner \
    -port "$port" -dbPath "$dir/data" -sharedDb -disableTelemetry </dev/null >"$dir/stdout.log" 2>&1 &
  local pid=$! tick
  echo "$pid" >"$dir/pid"
  for ((tick = 0; tick < start_seconds_max * 2; tick++)); do
    if listens; then
      echo "dynamodb: answers on 127.0.0.1:$port"
      return
    fi
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.5
  done
  tail -n 20 "$dir/stdout.log" >&2
  stop
  fail "it did not start; see $dir/stdout.log"
}

# Whether anything of a process is left. The first thread of an ending JVM is a zombie while others still hold its port;
# and where nobody reaps, a zombie alone stays for ever.
gone() { # pid
  local tasks
  tasks=$(cat "/proc/$1/task"/*/stat 2>/dev/null) || true
  ! grep -qv '^[0-9]* (.*) [ZX] ' <<<"${tasks:-0 () X }"
}

# Seen twice: one look amid the end may find only those of its threads that have ended.
ended_within() { # pid, tenths of a second
  local tick
  for ((tick = 0; tick < $2; tick++)); do
    gone "$1" && sleep 0.1 && gone "$1" && return
    sleep 0.1
  done
  return 1
}

stop() {
  local pid
  if pid=$(running); then
    kill "$pid" 2>/dev/null || true
    if ! ended_within "$pid" 100; then
      kill -9 "$pid" 2>/dev/null || true
      ended_within "$pid" 100 || fail "it (pid $pid) does not end"
    fi
    echo "dynamodb: stopped"
  fi
  rm -f "$dir/pid"
}

case ${1:-} in
  start)
    install
    start
    ;;
  stop) stop ;;
  *) usage ;;
esac
