import { join } from 'node:path'
import { build } from './tests/build/build.js'
import { excludedGlobs } from './tests/build/test-files.js'

/**
 * For processes that run for seconds: optimising functions of the embedded engine that run a few times takes a quarter
 * of their processor time (tests/harness/program.ts has the same).
 */
const FEWER_OPTIMISED = '--wasm-tiering-budget=100000000'

await build()

/** `npx ava FILE`: each file in a process of its own. `npm test` shares processes between files (scripts/test.js). */
export default {
  files: ['tests/**/*.test.ts', ...(await excludedGlobs())],
  extensions: { ts: 'commonjs' },
  nodeArguments: [`--require=${join(import.meta.dirname, 'tests/build/load.cjs')}`, FEWER_OPTIMISED],
  timeout: '8m',
  workerThreads: false,
  concurrency: 2,
  // One embedded engine after another: each test reuses the engine that the previous one closed.
  serial: !process.env.TEST_DATABASE_URL,
}
