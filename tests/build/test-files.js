import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { databaseFree } from './database-free.js'
import { root } from './place.cjs'

const { TEST_DATABASE_URL, PG_BIN, PGBOUNCER, PATRONI, DATABASE_TESTS_ONLY } = process.env

/** Folders whose tests need programs that are missing: a server, PostgreSQL's programs, PgBouncer, Patroni (scripts/with-postgres.sh). */
const excludedFolders = [
  ...(TEST_DATABASE_URL ? [] : ['tests/server/']),
  ...(PG_BIN ? [] : ['tests/server/clusters/']),
  ...(PGBOUNCER ? [] : ['tests/server/pooler/']),
  ...(PATRONI ? [] : ['tests/server/patroni/']),
]

/** Globs for ava of the files that do not run here. */
export const excludedGlobs = () => [
  ...excludedFolders.map(folder => `!${folder}**`),
  ...excludedFiles().map(file => `!${file}`),
]

/** .ci/run runs these on the embedded database, where they do the same. */
const excludedFiles = () => (DATABASE_TESTS_ONLY ? [...databaseFree(), ...embeddedOnly()] : [])

/** Tests of the embedded database itself, and of pages whose requests other tests send to both databases. */
const embeddedOnly = () => allFiles().filter(file => /\/embedded-[^/]*$/.test(file) || PAGES.test(file))

const PAGES = /^tests\/console\/(empty-states|memory|right-to-left|screens|views-pages)\.test\.ts$/

/** All test files that can run here, relative to the repository. */
export function testFiles() {
  const excluded = new Set(excludedFiles())
  return allFiles()
    .filter(file => !excluded.has(file) && !excludedFolders.some(folder => file.startsWith(folder)))
    .sort()
}

const allFiles = () =>
  readdirSync(join(root, 'tests'), { recursive: true })
    .map(name => `tests/${name.replaceAll('\\', '/')}`)
    .filter(file => file.endsWith('.test.ts'))
