#!/usr/bin/env bash
# The recorded cases against the built server, on a fresh embedded database, or the empty one that TEST_DATABASE_URL
# names (scripts/with-postgres.sh). Takes run.mjs's options (--only rest/2, --verbose, --json FILE). Needs `npm run build` first.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/server.sh
. "$root/scripts/server.sh"

work=$(mktemp -d)
server=
clean() {
  [ -z "$server" ] || stop_server "$server" || true
  rm -rf "$work"
}
trap clean EXIT

cp -r "$root/tests/conformance/project" "$work/project"
chmod -R u+w "$work/project"
port=$(free_port)
PORT=$port DATABASE_URL=${TEST_DATABASE_URL:-embedded} node "$root/bin/plinth.js" start "$work/project" >"$work/log" 2>&1 </dev/null &
server=$!
wait_ready "$server" "$port" "$work/log"
node "$root/tests/conformance/run.mjs" --base "http://127.0.0.1:$port" "$@"
