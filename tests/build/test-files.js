import { join } from 'node:path'
import { builtOf, root } from './place.cjs'
import { allTestFiles, databaseFree, withBrowser } from './test-needs.js'

const { TEST_DATABASE_URL, PG_BIN, PGBOUNCER, PATRONI, DATABASE_TESTS_ONLY } = process.env

/** What test files need that this machine does not have: `needs`, and the test for such files. */
async function missing() {
  const { findChromium } = await import(builtOf(join(root, 'tests', 'harness', 'chromium.ts')))
  const folders = [
    [TEST_DATABASE_URL, 'tests/server/', 'a PostgreSQL server (scripts/with-postgres.sh)'],
    [PG_BIN, 'tests/server/clusters/', "PostgreSQL's programs (scripts/with-postgres.sh)"],
    [PGBOUNCER, 'tests/server/pooler/', 'PgBouncer'],
    [PATRONI, 'tests/server/patroni/', 'Patroni, etcd and HAProxy'],
  ]
  const found = folders
    .filter(([program]) => !program)
    .map(([_, folder, needs]) => ({ needs, isOf: file => file.startsWith(folder) }))
  if (findChromium()) return found
  const inBrowser = new Set(withBrowser())
  return [...found, { needs: 'Chromium (or its path in CHROMIUM)', isOf: file => inBrowser.has(file) }]
}

/** .ci/run runs these on the embedded database, where they do the same. */
const excludedFiles = () => new Set(DATABASE_TESTS_ONLY ? [...databaseFree(), ...embeddedOnly()] : [])

/** Tests of the embedded database itself, and of pages whose requests other tests send to both databases. */
const embeddedOnly = () => allTestFiles().filter(file => /\/embedded-[^/]*$/.test(file) || PAGES.test(file))

const PAGES =
  /^tests\/console\/(editing|empty-states|lost-parts|memory|right-to-left|screens|upload-while-editing|views-pages)\.test\.ts$/

/**
 * The test files that can run here, relative to the repository, and those that cannot, by what they need. The tests must be
 * built.
 */
export async function testFiles() {
  const requirements = await missing()
  const excluded = excludedFiles()
  const files = allTestFiles()
    .filter(file => !excluded.has(file))
    .sort()
  const left = new Map()
  const runnable = files.filter(file => {
    const requirement = requirements.find(({ isOf }) => isOf(file))
    if (requirement) left.set(requirement.needs, (left.get(requirement.needs) ?? 0) + 1)
    return !requirement
  })
  return { files: runnable, left }
}

/** Globs for ava of the files that do not run here. */
export async function excludedGlobs() {
  const { files } = await testFiles()
  const runnable = new Set(files)
  return allTestFiles()
    .filter(file => !runnable.has(file))
    .map(file => `!${file}`)
}
