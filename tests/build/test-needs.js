import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { root } from './place.cjs'

/** Only files that read it know whether a test runs on a server or on the embedded database. */
const DATABASE = 'TEST_DATABASE_URL'

/** Only the harness of the browser imports it. */
const BROWSER = 'chrome-remote-interface'

/** Files of tests/ that a file names: its imports, and programs that it runs in processes of their own. */
const NAMED = /'((?:\.{1,2}\/|tests\/)[^']+\.ts)'/g

const tests = join(root, 'tests')

/** Test files that are the same on every database: neither they nor their files of tests/ ask for one. */
export function databaseFree() {
  const dependent = new Set(testFilesNaming(DATABASE))
  return allTestFiles().filter(file => !dependent.has(file))
}

/** Test files that open a browser, themselves or by their files of tests/. */
export const withBrowser = () => testFilesNaming(BROWSER)

/** All test files, relative to the repository. */
export const allTestFiles = () =>
  readdirSync(tests, { recursive: true })
    .map(name => `tests/${name.replaceAll('\\', '/')}`)
    .filter(file => file.endsWith('.test.ts'))

/** Test files with a word in one of their sources. */
const testFilesNaming = word =>
  allTestFiles().filter(file =>
    [...neededBy(join(root, file))].some(source => readFileSync(source, 'utf8').includes(word)),
  )

function neededBy(file, found = new Set()) {
  if (found.has(file) || !file.startsWith(tests) || !existsSync(file)) return found
  found.add(file)
  for (const [, name] of readFileSync(file, 'utf8').matchAll(NAMED))
    neededBy(resolve(name.startsWith('.') ? dirname(file) : root, name), found)
  return found
}
