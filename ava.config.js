import { createHash } from 'node:crypto'
import { join, relative } from 'node:path'
import { build } from './tests/build/build.js'
import { databaseFree } from './tests/build/database-free.js'

const { TEST_DATABASE_URL, PG_BIN, PGBOUNCER, PATRONI, DATABASE_TESTS_ONLY, CI_NODE_TOTAL } = process.env

/** What needs a server to connect to, PostgreSQL's programs, PgBouncer's or Patroni's (scripts/with-postgres.sh names them). */
const unfit = [
  ...(TEST_DATABASE_URL ? [] : ['!tests/server/**']),
  ...(PG_BIN ? [] : ['!tests/server/clusters/**']),
  ...(PGBOUNCER ? [] : ['!tests/server/pooler/**']),
  ...(PATRONI ? [] : ['!tests/server/patroni/**']),
  // What another run has, on another database (.ci/run).
  ...(DATABASE_TESTS_ONLY ? databaseFree().map(file => `!${file}`) : []),
]

/**
 * Functions of the embedded engine that a short run calls a few times are not worth optimising: that took a quarter of
 * a run's processor time. What a test runs with, the servers that it starts run with too.
 */
const FEWER_OPTIMISED = '--wasm-tiering-budget=100000000'

/** Runs that share the files between them (.ci/run) get dear ones and cheap ones alike. */
const byChance = (one, other) => (chanceOf(one) < chanceOf(other) ? -1 : 1)

const chanceOf = file =>
  createHash('sha1')
    .update(relative(import.meta.dirname, file))
    .digest('hex')

await build()

/** Tests on the embedded database run one after another, files too: each then takes over the engine that the one before it leaves. */
export default {
  files: ['tests/**/*.test.ts', ...unfit],
  extensions: { ts: 'commonjs' },
  nodeArguments: [`--require=${join(import.meta.dirname, 'tests/build/load.cjs')}`, FEWER_OPTIMISED],
  timeout: '4m',
  workerThreads: false,
  concurrency: 2,
  serial: !TEST_DATABASE_URL,
  ...(CI_NODE_TOTAL && { sortTestFiles: byChance }),
}
