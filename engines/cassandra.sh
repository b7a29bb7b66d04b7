#!/usr/bin/env bash
# A real Apache Cassandra for tests: one node or several, each on a loopback address of its own, CQL on port 9042.
#
#   cassandra.sh start [nodes=1] [heap=1G]    fetch if needed, start, wait until every node answers
#   cassandra.sh start-node I [heap]          start node I again; without a heap, with the one it had
#   cassandra.sh stop-node I                  kill -9 node I, as a crash would
#   cassandra.sh stop                         kill -9 all nodes of this cluster
#   cassandra.sh nodetool ARGS...             nodetool, against node 1
#
# Nodes are numbered from 1. Environment:
#   CASSANDRA_FIRST   last byte of node 1's address (1): node I listens on 127.0.0.(CASSANDRA_FIRST + I - 1), its JMX
#                     port is 7198 + that byte. Clusters with addresses apart run side by side.
#   ENGINES_HOME      where everything is kept (.engines in the project's root); delete it to start empty.
#   JAVA_HOME         the Java to use, if not the one on the PATH.
#
# Only processes that this script started are ever ended: by the pid it wrote, while that pid is still that node.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
home=${ENGINES_HOME:-$here/../.engines}/cassandra
first=${CASSANDRA_FIRST:-1}
start_seconds_max=180

usage() {
  sed -n '2,/^set /s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
  exit 2
}

fail() {
  echo "cassandra: $*" >&2
  exit 1
}

number() { # what, value, largest
  [[ $2 =~ ^[1-9][0-9]{0,2}$ && $2 -le $3 ]] || fail "$1 must be a number from 1 to $3, not '$2'"
}

number CASSANDRA_FIRST "$first" 254
mkdir -p "$home"
home=$(cd "$home" && pwd)
lib=$home/lib
cluster=$home/cluster-$first

# The module flags of Cassandra's own jvm17-server.options; and no waiting for a gossip that a test cluster does not have.
jvm_flags=(
  -Djdk.attach.allowAttachSelf=true
  -Djava.net.preferIPv4Stack=true
  -Dio.netty.tryReflectionSetAccessible=true
  -Dcassandra.skip_wait_for_gossip_to_settle=0
  -Dcassandra.ring_delay_ms=2000
  -Dcassandra.consistent.rangemovement=false
  --add-exports=java.base/{java.lang.ref,jdk.internal.misc,jdk.internal.ref,sun.nio.ch}"=ALL-UNNAMED"
  --add-exports=java.management.rmi/com.sun.jmx.remote.internal.rmi=ALL-UNNAMED
  --add-exports=java.rmi/{sun.rmi.registry,sun.rmi.server,sun.rmi.transport.tcp}"=ALL-UNNAMED"
  --add-exports=java.sql/java.sql=ALL-UNNAMED
  --add-exports=jdk.attach/sun.tools.attach=ALL-UNNAMED
  --add-exports=jdk.unsupported/sun.misc=ALL-UNNAMED
  --add-exports=jdk.compiler/com.sun.tools.javac.{api,code,comp,file,main,model,parser,processing,tree,util}"=ALL-UNNAMED"
  --add-opens=java.base/java.{io,lang,lang.module,lang.reflect,math,net,nio,nio.channels,nio.charset}"=ALL-UNNAMED"
  --add-opens=java.base/java.{nio.file.spi,util,util.concurrent,util.concurrent.atomic}"=ALL-UNNAMED"
  --add-opens=java.base/jdk.internal.{loader,math,module,ref,reflect,util.jar}"=ALL-UNNAMED"
  --add-opens=java.base/sun.nio.ch=ALL-UNNAMED
  --add-opens=java.rmi/sun.rmi.transport.tcp=ALL-UNNAMED
  --add-opens=jdk.compiler/com.sun.tools.javac=ALL-UNNAMED
  --add-opens=jdk.management/com.sun.management.internal=ALL-UNNAMED
)

java=${JAVA_HOME:+$JAVA_HOME/bin/}java

need_java() {
  command -v "$java" >/dev/null || fail "'$java' was not found; install Java 17 (Debian: openjdk-17-jre-headless)"
  local version
  version=$("$java" -XshowSettings:properties -version 2>&1 | sed -n 's/^ *java\.specification\.version = //p')
  [[ $version =~ ^[0-9]+$ && $version -ge 17 ]] || fail "'$java' is Java $version; 17 or newer is needed"
  # Cassandra installs a security manager: Java 18 to 23 want to be told that it may, Java 24 has none any more.
  ((version < 24)) || fail "'$java' is Java $version; Cassandra 5.0 runs on 17 to 23. Set JAVA_HOME to one of these"
  if ((version > 17)); then jvm_flags+=(-Djava.security.manager=allow); fi
}

install() {
  need_java
  [ -d "$lib" ] && return
  command -v mvn >/dev/null || fail "'mvn' was not found; install Maven to fetch Cassandra (Debian: maven)"
  echo "cassandra: fetching the jars"
  # Into another folder first, so that a broken download never looks like an installation.
  rm -rf "$lib.partial"
  mvn -q -B -Dstyle.color=never -f "$here/cassandra-pom.xml" dependency:copy-dependencies -DoutputDirectory="$lib.partial"
  mv "$lib.partial" "$lib"
}

address() { echo "127.0.0.$((first + $1 - 1))"; }
jmx_port() { echo $((7198 + first + $1 - 1)); }
listens() { (exec 3<>"/dev/tcp/$1/$2") 2>/dev/null; }

# The pid of node I if it runs. A pid file may outlive its process, and the number may belong to someone else by then.
running() {
  local dir=$cluster/node$1 pid
  [ -e "$dir/pid" ] && pid=$(<"$dir/pid") && [ -n "$pid" ] || return 1
  tr '\0' '\n' 2>/dev/null <"/proc/$pid/cmdline" | grep -qxF -- "-Dcassandra.storagedir=$dir/data" || return 1
  echo "$pid"
}

configure() {
  local dir=$cluster/node$1 ip
  ip=$(address "$1")
  mkdir -p "$dir/conf" "$dir/data"
  # Batch sync: an acknowledged write is on disk, so that kill -9 may lose nothing. Limits on batches are the defaults.
  cat >"$dir/conf/cassandra.yaml" <<YAML
cluster_name: merkato-test
num_tokens: 4
partitioner: org.apache.cassandra.dht.Murmur3Partitioner
endpoint_snitch: SimpleSnitch
seed_provider:
  - class_name: org.apache.cassandra.locator.SimpleSeedProvider
    parameters: [{seeds: $(address 1)}]
listen_address: $ip
rpc_address: $ip
storage_port: 7000
native_transport_port: 9042
authenticator: AllowAllAuthenticator
authorizer: AllowAllAuthorizer
commitlog_sync: batch
commitlog_segment_size: 16MiB
memtable_heap_space: 128MiB
memtable_offheap_space: 128MiB
concurrent_reads: 16
concurrent_writes: 16
hinted_handoff_enabled: true
auto_snapshot: false
materialized_views_enabled: false
user_defined_functions_enabled: false
sasi_indexes_enabled: false
data_file_directories: ["$dir/data/data"]
commitlog_directory: "$dir/data/commitlog"
hints_directory: "$dir/data/hints"
saved_caches_directory: "$dir/data/saved_caches"
cdc_raw_directory: "$dir/data/cdc_raw"
YAML
  cat >"$dir/conf/logback.xml" <<XML
<configuration>
  <appender name="FILE" class="ch.qos.logback.core.FileAppender">
    <file>$dir/system.log</file>
    <encoder><pattern>%d %-5level [%thread] %logger{0} - %msg%n</pattern></encoder>
  </appender>
  <root level="INFO"><appender-ref ref="FILE"/></root>
</configuration>
XML
}

node_flags() { # node
  local conf=$cluster/node$1/conf
  echo "-Dlogback.configurationFile=file://$conf/logback.xml"
  echo "-Dcassandra.config=file://$conf/cassandra.yaml"
}

start_node() { # node, heap or nothing
  local dir=$cluster/node$1 heap=${2:-} ip flags
  number node "$1" $((255 - first))
  ip=$(address "$1")
  if running "$1" >/dev/null; then
    echo "cassandra: node $1 runs already on $ip:9042"
    return
  fi
  if listens "$ip" 9042; then fail "$ip:9042 is taken by another; set CASSANDRA_FIRST to use other addresses"; fi
  if listens 127.0.0.1 "$(jmx_port "$1")"; then fail "port $(jmx_port "$1") (JMX of node $1) is taken by another"; fi
  configure "$1"
  if [ -z "$heap" ] && [ -e "$dir/heap" ]; then heap=$(<"$dir/heap"); fi
  heap=${heap:-1G}
  echo "$heap" >"$dir/heap"
  mapfile -t flags < <(node_flags "$1")
  nohup "$java" -Xms"$heap" -Xmx"$heap" -XX:+UseG1GC -XX:-UsePerfData "${jvm_flags[@]}" "${flags[@]}" \
    -Dcassandra.jmx.local.port="$(jmx_port "$1")" -Dcassandra.storagedir="$dir/data" \
    -cp "$dir/conf:$lib/*" org.apache.cassandra.service.CassandraDaemon </dev/null >"$dir/stdout.log" 2>&1 &
  local pid=$!
  echo "$pid" >"$dir/pid"
  local tick
  for ((tick = 0; tick < start_seconds_max * 2; tick++)); do
    if listens "$ip" 9042; then
      echo "cassandra: node $1 answers on $ip:9042"
      return
    fi
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.5
  done
  tail -n 20 "$dir/stdout.log" >&2
  stop_node "$1"
  fail "node $1 did not start; see $dir/system.log"
}

# Whether anything of a process is left. The first thread of a killed JVM is a zombie while others still hold its ports;
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

stop_node() { # node
  local pid
  if pid=$(running "$1"); then
    kill -9 "$pid" 2>/dev/null || true
    ended_within "$pid" 300 || fail "node $1 (pid $pid) does not end"
    echo "cassandra: node $1 is stopped"
  fi
  rm -f "$cluster/node$1/pid"
}

case ${1:-} in
  start)
    nodes=${2:-1}
    number nodes "$nodes" $((255 - first))
    install
    for ((node = 1; node <= nodes; node++)); do start_node "$node" "${3:-1G}"; done
    ;;
  start-node)
    [ $# -ge 2 ] || usage
    install
    start_node "$2" "${3:-}"
    ;;
  stop-node)
    [ $# -eq 2 ] || usage
    stop_node "$2"
    ;;
  stop)
    for dir in "$cluster"/node*; do
      if [ -d "$dir" ]; then stop_node "${dir##*/node}"; fi
    done
    ;;
  nodetool)
    shift
    need_java
    [ -d "$cluster/node1/conf" ] || fail "there is no cluster in $cluster; start one first"
    mapfile -t flags < <(node_flags 1)
    exec "$java" "${jvm_flags[@]}" "${flags[@]}" -cp "$cluster/node1/conf:$lib/*" \
      org.apache.cassandra.tools.NodeTool -p "$(jmx_port 1)" "$@"
    ;;
  *) usage ;;
esac
