#!/usr/bin/env bash
# Packs Plinth and create-plinth, creates a project of each template from the tarballs in an empty folder, checks and tests them,
# starts the example, sends a request, stops, and starts again. Needs `npm run build` first.
# smoke.sh [VERSION…]: repeats the start on other major versions of Node (x64 or arm64 Linux), from the registry.
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

cd "$root"
npm pack --ignore-scripts --silent --pack-destination "$work" . ./tools/create-plinth >/dev/null
foreign=$(tar -tzf "$work"/plinth-*.tgz | grep -vE '^package/(bin|dist|templates|docs|deploy)/|^package/[^/]+\.(md|json)$|^package/LICENSE$' || true)
[ -z "$foreign" ] || { echo "The tarball contains: $foreign"; exit 1; }
tar -tzf "$work"/plinth-*.tgz | grep '^package/dist/run/embedded-.*\.tar\.br$' >/dev/null || { echo "The tarball has no files for the embedded database: npm run build"; exit 1; }
cd "$work"
port=$(free_port)

# start: what `npm start` runs, with the embedded database; prints what it took until the server answered. The shell that npm
# starts in between does not pass signals on.
start() {
  local began=$EPOCHREALTIME
  PORT=$port HOST=127.0.0.1 DATABASE_URL=embedded node_modules/.bin/plinth start --no-watch >"$work/log" 2>&1 </dev/null &
  server=$!
  wait_ready "$server" "$port" "$work/log"
  echo "$1 start: $(((${EPOCHREALTIME/./} - ${began/./} ) / 1000)) ms"
}

stop() {
  local code=0
  stop_server "$server" || code=$?
  server=
  [ "$code" -eq 0 ] || { echo "SIGTERM ended the server with code $code"; tail -n 40 "$work/log"; return 1; }
}

ask() {
  node -e '
    fetch(process.argv[1]).then(async answer => {
      const text = await answer.text()
      const { data } = JSON.parse(text)
      const related = data?.some(one => one.cuisines?.length > 0 && one.address)
      if (answer.status !== 200 || !related) throw new Error(`${answer.status} ${text.slice(0, 500)}`)
      console.log(`GET /api/restaurants?populate=*: 200, ${data.length} restaurants with their relations`)
    }).catch(reason => { console.error(String(reason)); process.exit(1) })' \
    "http://127.0.0.1:$port/api/restaurants?populate=*"
}

# quietly COMMAND…: prints the output if the command fails.
quietly() { "$@" >"$work/log" 2>&1 </dev/null || { echo "$* failed:"; tail -n 60 "$work/log"; return 1; }; }

created() { (cd "$1" && quietly npm run check && quietly npm test && echo "$1: created, checked, tested"); }

began=$SECONDS
quietly npx --yes --package ./plinth-*.tgz --package ./create-plinth-*.tgz create-plinth example --template example
cd example
start first
ask
echo "From an empty folder to the first response: $((SECONDS - began)) s"
stop
start second
ask
stop
cd ..
created example
image() { "$root/node_modules/.bin/tsx" "$root/scripts/run-dockerfile.ts" "$work/example" /_ready /api/restaurants; }
quietly image && echo "the steps of the Dockerfile: built, started as USER node, answered, stopped"
for template in blank blog shop; do
  quietly node example/node_modules/plinth/bin/plinth.js init "$template" --template "$template" --no-install
  ln -s ../example/node_modules "$template/node_modules"
  created "$template"
done
cd example

# Packages that the build leaves in files of their own: a regular expression with a group, names of an enumeration.
node --input-type=module -e '
  import { createTestApp } from "plinth/testing"
  const attributes = { code: { type: "string", regex: "^(ab)+$" }, kind: { type: "enumeration", enum: ["Café noir"] } }
  const roles = { public: { permissions: { coffee: ["create"] } } }
  const app = await createTestApp({ project: { name: "Coffees", contentTypes: { coffee: { attributes } }, roles } })
  const { status } = await app.request("POST", "/api/coffees", { body: { data: { code: "abb" } } })
  const { data } = await app.graphql("{ __type(name: \"ENUM_COFFEE_KIND\") { enumValues { name } } }")
  if (status !== 400 || data?.__type?.enumValues[0]?.name !== "Cafe_noir") throw new Error(JSON.stringify({ status, data }))
  await app.close()'

# with_node VERSION: the same installation on another Node.
with_node() {
  local arch=x64 folder="$work/node-$1"
  [ "$(uname -m)" = x86_64 ] || arch=arm64
  npm install --prefix "$folder" --no-save --ignore-scripts --silent "node-linux-$arch@$1"
  (
    PATH="$folder/node_modules/node-linux-$arch/bin:$PATH"
    [ "$(node --version | cut -d . -f 1)" = "v$1" ] || { echo "Node $1 is not installed"; exit 1; }
    server=
    trap '[ -z "$server" ] || stop_server "$server"' EXIT
    start "Node $(node --version)"
    ask
    stop
    quietly npm test
  )
}

for version in "$@"; do with_node "$version"; done
echo "The packed tarballs create projects that check, test, start, answer and stop."
