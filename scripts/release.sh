#!/usr/bin/env bash
# Releases plinth and create-plinth: `bash scripts/release.sh` checks and packs everything and publishes nothing.
# `bash scripts/release.sh --publish` then publishes both tarballs, plinth first, and tags the commit. It needs `npm login`, and a
# clean clone on which `bash .ci/run` succeeded.
set -euo pipefail
cd "$(dirname "$0")/.."

publish=
case "${1:-}" in
  '') ;;
  --publish) publish=yes ;;
  *) echo "usage: release.sh [--publish]" >&2; exit 1 ;;
esac

fail() { echo "release: $*" >&2; exit 1; }
read_json() { node -p 'const [file, path] = process.argv.slice(1); path.split("/").reduce((at, key) => at[key], JSON.parse(require("fs").readFileSync(file)))' "$1" "$2"; }

version=$(read_json package.json version)
creator=$(read_json tools/create-plinth/package.json version)
depends=$(read_json tools/create-plinth/package.json dependencies/plinth)
locked=$(read_json package-lock.json version)

problems=()
expect() { [ "$1" = "$2" ] || problems+=("$3 is $1, expected $2"); }
expect "$creator" "$version" 'the version of tools/create-plinth/package.json'
expect "$depends" "^$version" 'the plinth that create-plinth depends on'
expect "$locked" "$version" 'the version of package-lock.json'
[ -z "$(git status --porcelain)" ] || problems+=('the working tree has changes')
! git rev-parse --quiet --verify "refs/tags/v$version" >/dev/null || problems+=("the tag v$version exists")
grep -qE "^## $version \([0-9]{4}-[0-9]{2}-[0-9]{2}\)$" CHANGELOG.md || problems+=("CHANGELOG.md has no heading \"## $version (YYYY-MM-DD)\"")

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm run --silent build
npm pack --ignore-scripts --silent --pack-destination "$folder" . ./tools/create-plinth >/dev/null
plinth=$folder/plinth-$version.tgz
[ -f "$plinth" ] || fail "npm packed no plinth-$version.tgz"
for file in dist/run/main.js dist/index.d.ts dist/THIRD-PARTY.md project.schema.json templates/base/Dockerfile deploy/ha/start.sh docs/README.md LICENSE; do
  tar -tzf "$plinth" "package/$file" >/dev/null 2>&1 || problems+=("the tarball has no $file")
done
npm audit --omit=dev --audit-level=high >"$folder/audit" 2>&1 || problems+=("npm audit: $(tail -n 3 "$folder/audit" | tr '\n' ' ')")
# npm counts the packages that are bundled into dist/run/ as development dependencies.
npm audit --json >"$folder/all.json" 2>/dev/null || true
bundled=$(node scripts/audit-bundled.js "$folder/all.json" dist/THIRD-PARTY.md) || problems+=("npm audit of bundled packages: $bundled")

echo "plinth $version"
for tarball in "$folder"/*.tgz; do
  printf '%s  %s bytes  sha256 %s\n' "$(basename "$tarball")" "$(stat -c %s "$tarball")" "$(sha256sum "$tarball" | cut -c 1-64)"
done
if [ ${#problems[@]} -gt 0 ]; then
  printf 'not ready: %s\n' "${problems[@]}"
  [ -z "$publish" ] || fail 'nothing was published'
  exit 2
fi
if [ -z "$publish" ]; then
  echo 'Ready. Nothing was published: `bash scripts/release.sh --publish` does it.'
  exit 0
fi

# Prereleases (1.0.0-beta.1) do not become `latest`.
channel=latest
case "$version" in *-*) channel=next ;; esac
npm publish "$plinth" --tag "$channel" --access public
npm publish "$folder/create-plinth-$version.tgz" --tag "$channel" --access public
git tag --annotate "v$version" --message "plinth $version"
echo "Published. Push the tag: git push origin v$version"
