#!/usr/bin/env bash
# Starts a temporary PostgreSQL server and runs a command with TEST_DATABASE_URL set to it:
#   scripts/with-postgres.sh npx ava
# The cluster is in a temporary folder, listens on 127.0.0.1 and a socket, and is removed at the end.
# PG_BIN: the folder of PostgreSQL's programs, if they are not found automatically.
# IN_MEMORY=1 keeps the cluster in memory where that has 4 GB of room: for the tests, whose many databases exist for a second.
# KEEP_LOG=1 shows the server's log at the end. DURABLE=1 makes a commit wait for the disk, as in production (the benchmark).
set -euo pipefail

if [ $# -eq 0 ]; then
  echo "usage: $0 command [argument...]" >&2
  exit 2
fi

find_bin() {
  if [ -n "${PG_BIN:-}" ]; then
    echo "$PG_BIN"
  elif command -v initdb >/dev/null; then
    dirname "$(command -v initdb)"
  else
    # Debian and Ubuntu install them outside PATH, one folder per version; the newest sorts last.
    find /usr/lib/postgresql /usr/local/opt /opt/homebrew/opt -path '*/bin/initdb' 2>/dev/null | sort -V | tail -n 1 | xargs -r dirname
  fi
}

bin=$(find_bin)
if [ -z "$bin" ] || [ ! -x "$bin/initdb" ]; then
  echo "$0: PostgreSQL is not installed (no initdb found); set PG_BIN to the folder of its programs" >&2
  exit 127
fi

# PostgreSQL refuses to run as root.
as_owner() {
  if [ "$(id -u)" -eq 0 ]; then
    runuser -u postgres -- "$@"
  else
    "$@"
  fi
}

# Kilobytes that are free in the memory that Linux serves as a folder.
free_memory() { df --output=avail -k /dev/shm 2>/dev/null | tail -n 1 || true; }

parent=/tmp
if [ -n "${IN_MEMORY:-}" ] && [ "$(free_memory)" -gt 4000000 ] 2>/dev/null; then parent=/dev/shm; fi

# A short path: a socket path is limited to 107 characters.
folder=$(mktemp -d "$parent/plinth-pg.XXXXXX")
if [ "$(id -u)" -eq 0 ]; then chown postgres "$folder"; fi

clean_up() {
  if [ -f "$folder/data/postmaster.pid" ]; then
    as_owner "$bin/pg_ctl" -D "$folder/data" -m immediate -w stop >/dev/null 2>&1 || true
  fi
  if [ -n "${KEEP_LOG:-}" ]; then cat "$folder/log" >&2 || true; fi
  rm -rf "$folder"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# shellcheck source=scripts/free-port.sh
. "$(dirname "$0")/free-port.sh"

cd "$folder" # initdb and the server must not depend on a folder that their user cannot read
as_owner "$bin/initdb" -D "$folder/data" -U postgres --auth=trust --locale=C.UTF-8 --encoding=UTF8 --no-sync >"$folder/initdb.log" 2>&1 || {
  cat "$folder/initdb.log" >&2
  exit 1
}

# All roles are trusted, except the one with which tests use a wrong password.
as_owner tee "$folder/data/pg_hba.conf" >/dev/null <<'HBA'
host all plinth_login_test 127.0.0.1/32 scram-sha-256
host all all 127.0.0.1/32 trust
local all all trust
HBA

unsafe="-c fsync=off -c full_page_writes=off -c synchronous_commit=off"
if [ -n "${DURABLE:-}" ]; then unsafe=""; fi

start() {
  port=$(free_port)
  as_owner "$bin/pg_ctl" -D "$folder/data" -l "$folder/log" -w -t 60 start -o \
    "-c listen_addresses=127.0.0.1 -c port=$port -c unix_socket_directories=$folder $unsafe -c max_connections=200 -c max_prepared_transactions=8 -c max_locks_per_transaction=256" >/dev/null
}
# The port may be taken between its choice and its use.
start || start || {
  cat "$folder/log" >&2
  exit 1
}
cd "$OLDPWD"

export TEST_DATABASE_URL="postgres://postgres@127.0.0.1:$port/postgres"
# For tests that start their own servers: replicas, PgBouncer (Debian: /usr/sbin) and Patroni, if installed.
PG_BIN=$(dirname "$(readlink -f "$bin/postgres")")
export PG_BIN
PGBOUNCER=${PGBOUNCER:-$(PATH="$PATH:/usr/sbin" command -v pgbouncer || true)}
export PGBOUNCER
# Patroni needs etcd; its tests need HAProxy (Debian: /usr/sbin).
PATRONI=${PATRONI:-$(command -v etcd >/dev/null && PATH="$PATH:/usr/sbin" command -v haproxy >/dev/null && command -v patroni || true)}
export PATRONI
status=0
"$@" || status=$?
exit "$status"
