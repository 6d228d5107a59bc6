import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { root } from './place.cjs'

/** Only what reads it knows whether a test runs on a server or on the embedded database. */
const CHOICE = 'TEST_DATABASE_URL'

/** Files of tests/ that one names: what it imports, and what it runs in a process of its own. */
const NAMED = /'((?:\.{1,2}\/|tests\/)[^']+\.ts)'/g

const tests = join(root, 'tests')

/** Test files that are the same on every database: neither they nor anything of tests/ that they need ask for one. */
export const databaseFree = () =>
  readdirSync(tests, { recursive: true })
    .filter(name => name.endsWith('.test.ts'))
    .map(name => join(tests, name))
    .filter(file => ![...needed(file)].some(source => readFileSync(source, 'utf8').includes(CHOICE)))
    .map(file => relative(root, file))

function needed(file, found = new Set()) {
  if (found.has(file) || !file.startsWith(tests) || !existsSync(file)) return found
  found.add(file)
  for (const [, name] of readFileSync(file, 'utf8').matchAll(NAMED))
    needed(resolve(name.startsWith('.') ? dirname(file) : root, name), found)
  return found
}
