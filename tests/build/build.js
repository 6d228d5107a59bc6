import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { built, builtOf, root } from './place.cjs'

const FOLDERS = ['core', 'tools', 'scripts', 'tests']

/** The inputs of every built file: if one of them changes, all files are built again. */
const MAKERS = [
  'tests/build/strip.js',
  'scripts/lower-spreads.js',
  'package-lock.json',
  'project.schema.json',
]

/** The build writes the compiled check of project files next to this file (core/project/grammar/grammar.ts). */
const PRINT_GRAMMAR = join(root, 'core/project/grammar/print-grammar.ts')

/**
 * Lays JavaScript of all sources that tests run into a folder of its own: a process starts from plain files with a third of the work
 * that it has where it strips types as it loads. Only what has changed is made; all of it takes two or three seconds.
 */
export async function build() {
  forgetUnlessMadeBy(digest(MAKERS))
  const sources = FOLDERS.flatMap(folder => sourcesBelow(join(root, folder)))
  forgetGone(new Set(sources.map(builtOf)))
  const changed = sources.filter(hasChanged)
  if (changed.length === 0) return
  const { strip } = await import('./strip.js')
  for (const source of changed) lay(source, strip(readFileSync(source, 'utf8'), source))
  await import(pathToFileURL(builtOf(PRINT_GRAMMAR)).href)
}

function digest(names) {
  const hash = createHash('sha256')
  for (const name of names) hash.update(readFileSync(join(root, name)))
  return hash.digest('hex')
}

function forgetUnlessMadeBy(makers) {
  const stamp = join(built, 'made-by')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === makers) return
  rmSync(built, { recursive: true, force: true })
  mkdirSync(built, { recursive: true })
  writeFileSync(join(built, 'package.json'), '{ "type": "module" }\n')
  writeFileSync(stamp, makers)
}

const filesBelow = folder =>
  existsSync(folder) ? readdirSync(folder, { recursive: true }).map(name => join(folder, name)) : []

const sourcesBelow = folder =>
  filesBelow(folder).filter(path => path.endsWith('.ts') && !path.endsWith('.d.ts'))

function forgetGone(wanted) {
  for (const folder of FOLDERS)
    for (const file of filesBelow(join(built, folder)))
      if (file.endsWith('.js') && !wanted.has(file)) rmSync(file, { force: true })
}

/** What is made of a file has its time, whichever that is: a checkout may bring an older one. */
function hasChanged(source) {
  const made = statSync(builtOf(source), { throwIfNoEntry: false })
  return made === undefined || Math.round(made.mtimeMs) !== wholeTime(source).getTime()
}

/** To the millisecond. */
const wholeTime = source => new Date(Math.trunc(statSync(source).mtimeMs))

/** At once: another run of tests may be reading it. */
function lay(source, code) {
  const file = builtOf(source)
  const draft = `${file}.${process.pid}`
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(draft, code)
  const time = wholeTime(source)
  utimesSync(draft, time, time)
  renameSync(draft, file)
}
