#!/usr/bin/env bash
# Starts a cluster on this machine to try a failover: etcd, three PostgreSQL nodes with Patroni, and HAProxy in front.
#   start.sh [FOLDER]   HA_PORT=6432 sets the first of ten ports. Ctrl-C or SIGTERM ends everything.
# Debian: apt-get install patroni etcd-server haproxy postgresql. The files of the nodes are in FOLDER, or in a temporary folder.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
PATH="$PATH:/usr/sbin"
for program in patroni etcd haproxy; do
  command -v "$program" >/dev/null || { echo "$program is not installed: apt-get install patroni etcd-server haproxy" >&2; exit 1; }
done
PG_BIN=${PG_BIN:-$(compgen -G '/usr/lib/postgresql/*/bin' | sort -V | tail -1)}
[ -x "$PG_BIN/initdb" ] || { echo "PostgreSQL is not installed: apt-get install postgresql" >&2; exit 1; }

export HA_PORT=${HA_PORT:-6432}
export HA_READ_PORT=$((HA_PORT + 1))
etcd=$((HA_PORT + 2)) etcd_peer=$((HA_PORT + 3))
for number in 1 2 3; do
  export "NODE_${number}_PORT=$((HA_PORT + 3 + number))" "NODE_${number}_REST=$((HA_PORT + 6 + number))"
done

own=
folder=${1:-}
[ -n "$folder" ] || { folder=$(mktemp -d "${TMPDIR:-/tmp}/plinth-ha.XXXXXX"); own=yes; }
mkdir -p "$folder"

# PostgreSQL refuses to run as root.
as=()
if [ "$(id -u)" -eq 0 ]; then
  chown postgres: "$folder"
  as=(setpriv --reuid=postgres --regid=postgres --init-groups)
fi

pids=()
stop() {
  trap - EXIT INT TERM
  # HAProxy and Patroni first: Patroni stops its PostgreSQL.
  for ((each = ${#pids[@]} - 1; each >= 0; each--)); do
    kill -TERM "${pids[each]}" 2>/dev/null || true
    wait "${pids[each]}" 2>/dev/null || true
  done
  # PostgreSQL of a node whose Patroni was killed.
  for file in "$folder"/*/data/postmaster.pid; do
    [ ! -e "$file" ] || kill -QUIT "$(head -n 1 "$file")" 2>/dev/null || true
  done
  [ -z "$own" ] || rm -rf "$folder"
}
trap stop EXIT
trap 'exit 0' INT TERM

# run NAME COMMAND…: in the background, with its output in FOLDER/NAME.log.
run() {
  local name=$1
  shift
  "${as[@]}" "$@" >>"$folder/$name.log" 2>&1 </dev/null &
  pids+=($!)
}

# until_ready NAME COMMAND…: until it succeeds, at most two minutes, and only while NAME runs.
until_ready() {
  local name=$1 pid=${pids[-1]} end=$((SECONDS + 120))
  shift
  until "$@" >/dev/null 2>&1; do
    if ! kill -0 "$pid" 2>/dev/null || ((SECONDS > end)); then
      printf '%s is not ready. Its log:\n' "$name" >&2
      tail -n 20 "$folder/$name.log" >&2
      exit 1
    fi
    sleep 0.2
  done
}

# answers PORT METHOD PATH: with 200, within five seconds.
answers() {
  local line
  exec 3<>"/dev/tcp/127.0.0.1/$1" && printf '%s %s HTTP/1.0\r\n\r\n' "$2" "$3" >&3 && read -r -t 5 line <&3 && [[ $line == *' 200 '* ]]
}

run etcd etcd --data-dir "$folder/etcd" \
  --listen-client-urls "http://127.0.0.1:$etcd" --advertise-client-urls "http://127.0.0.1:$etcd" \
  --listen-peer-urls "http://127.0.0.1:$etcd_peer" --initial-advertise-peer-urls "http://127.0.0.1:$etcd_peer" \
  --initial-cluster "default=http://127.0.0.1:$etcd_peer"
until_ready etcd answers "$etcd" GET /health

# node NAME POSTGRES_PORT REST_PORT
node() {
  "${as[@]}" mkdir -p -m 700 "$folder/$1"
  run "$1" env PATRONI_NAME="$1" PATRONI_ETCD3_HOST="127.0.0.1:$etcd" \
    PATRONI_RESTAPI_LISTEN="127.0.0.1:$3" PATRONI_RESTAPI_CONNECT_ADDRESS="127.0.0.1:$3" \
    PATRONI_POSTGRESQL_LISTEN="127.0.0.1:$2" PATRONI_POSTGRESQL_CONNECT_ADDRESS="127.0.0.1:$2" \
    PATRONI_POSTGRESQL_DATA_DIR="$folder/$1/data" PATRONI_POSTGRESQL_BIN_DIR="$PG_BIN" \
    PATRONI_POSTGRESQL_PGPASS="$folder/$1/pgpass" \
    PATRONI_SUPERUSER_USERNAME=postgres PATRONI_SUPERUSER_PASSWORD="${PGPASSWORD:-secret}" \
    PATRONI_REPLICATION_USERNAME=replicator PATRONI_REPLICATION_PASSWORD="${PGPASSWORD:-secret}" \
    patroni "$folder/patroni.yml"
}

# Sockets in the folder of the cluster, which any user of PostgreSQL can write to.
sed "s|^  parameters:\$|&\n    unix_socket_directories: $folder|" "$here/patroni.yml" >"$folder/patroni.yml"
cp "$here/haproxy.cfg" "$folder/"
chmod a+r "$folder/patroni.yml" "$folder/haproxy.cfg"
# The first node creates the database, the others copy it.
node one "$NODE_1_PORT" "$NODE_1_REST"
until_ready one answers "$NODE_1_REST" OPTIONS /primary
node two "$NODE_2_PORT" "$NODE_2_REST"
until_ready two answers "$NODE_2_REST" OPTIONS /replica
node three "$NODE_3_PORT" "$NODE_3_REST"
until_ready three answers "$NODE_3_REST" OPTIONS /replica
run haproxy haproxy -db -f "$folder/haproxy.cfg"
until_ready haproxy "$PG_BIN/pg_isready" -h 127.0.0.1 -p "$HA_PORT"

cat <<END
primary    postgres://postgres:${PGPASSWORD:-secret}@127.0.0.1:$HA_PORT/postgres
standbys   postgres://postgres:${PGPASSWORD:-secret}@127.0.0.1:$HA_READ_PORT/postgres
nodes      one 127.0.0.1:$NODE_1_PORT, two 127.0.0.1:$NODE_2_PORT, three 127.0.0.1:$NODE_3_PORT
state      curl http://127.0.0.1:$NODE_1_REST/cluster
logs       $folder
processes  ${pids[*]}
Ctrl-C ends the cluster.
END
# A node that ends, as in a trial of a failover, does not end the others.
while sleep 1 & wait $!; do :; done
