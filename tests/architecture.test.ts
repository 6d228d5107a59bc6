import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import ts from 'typescript'
import { caseMessages, caseValues } from './architecture/cases.ts'
import {
  GENERATED,
  nodesOf,
  placeOf,
  readSources,
  roomsWithout,
  type Source,
} from './architecture/sources.ts'

/** A room imports only rooms of an earlier line; rooms of one line are strangers. */
const FLOORS: readonly (readonly string[])[] = [
  ['base'],
  ['faults', 'observe', 'secrets'],
  ['project'],
  ['model', 'metrics'],
  ['query', 'sql'],
  ['access', 'plan'],
  ['database'],
  ['cache', 'doctor'],
  ['documents'],
  ['media', 'events'],
  ['identity', 'plugins', 'content', 'transfer'],
  ['rest', 'graphql', 'idempotency'],
  ['documents-api'],
  ['http', 'strapi'],
  ['app'],
  ['workers'],
]
/** They compose the rooms, and one another. */
const TOP: ReadonlySet<string> = new Set(['cli', 'index.ts', 'testing.ts'])

/** Every package that core/ may use, and the rooms that may. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  sequelize: ['database'],
  pg: ['database'],
  '@electric-sql/pglite': ['database'],
  yaml: ['project'],
  ajv: ['project'],
  re2js: ['project'],
  '@casl/ability': ['access'],
  pluralize: ['model'],
  bcryptjs: ['secrets'],
  jiti: ['plugins'],
  jose: ['identity'],
  nodemailer: ['identity'],
  '@fastify/busboy': ['media'],
  aws4fetch: ['media'],
  sharp: ['media'],
  'file-type': ['media'],
  express: ['http'],
  pino: ['http', 'observe'],
  '@opentelemetry/api': ['observe'],
  qs: ['rest'],
  graphql: ['graphql'],
  '@graphql-tools/merge': ['graphql'],
  '@graphql-tools/schema': ['graphql'],
  '@graphql-tools/utils': ['graphql'],
  commander: ['cli'],
}

const sources = readSources()
const written = sources.filter(source => !GENERATED.has(source.path))
const floorOf = (room: string): number => FLOORS.findIndex(rooms => rooms.includes(room))
const floorFrom = (room: string): number => (TOP.has(room) ? FLOORS.length : floorOf(room))

test('every folder and file directly in core is a known room', t => {
  const unknown = new Set(sources.map(source => source.room).filter(room => floorFrom(room) < 0))
  t.deepEqual([...unknown], [])
})

test('a room imports only rooms below it', t => {
  const wrong = sources.flatMap(source =>
    source.imports
      .filter(path => !mayImport(source.room, path.split('/')[0] ?? path))
      .map(path => `core/${source.path} imports core/${path}`),
  )
  t.deepEqual(wrong, [])
})

function mayImport(from: string, to: string): boolean {
  if (from === to || (TOP.has(from) && TOP.has(to))) return true
  return floorFrom(to) >= 0 && floorFrom(to) < floorFrom(from)
}

test('no file of core imports itself by any way round', t => {
  t.deepEqual(findCycles(new Map(sources.map(source => [source.path, source.imports]))), [])
})

/** Each cycle once, as the path that closes it: depth first, a file is finished when all it imports is. */
function findCycles(imports: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const finished = new Set<string>()
  const cycles: string[] = []
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path)
    if (start >= 0) cycles.push([...trail.slice(start), path].join(' -> '))
    if (start >= 0 || finished.has(path)) return
    for (const next of imports.get(path) ?? []) visit(next, [...trail, path])
    finished.add(path)
  }
  for (const path of imports.keys()) visit(path, [])
  return cycles
}

test('a cycle of imports is found, with the files on it', t => {
  const imports = new Map([
    ['a.ts', ['b.ts']],
    ['b.ts', ['c.ts']],
    ['c.ts', ['b.ts']],
  ])
  t.deepEqual(findCycles(imports), ['b.ts -> c.ts -> b.ts'])
})

test('a foreign package is imported in its own room alone', t => {
  const wrong = sources.flatMap(source =>
    source.packages
      .filter(name => !PACKAGES[name]?.includes(source.room))
      .map(name => `core/${source.path} imports ${name}`),
  )
  t.deepEqual(wrong, [])
})

test('core exports by name only', t => {
  t.deepEqual(offences(isDefaultExport), [])
})

test('core has no any, no non-null assertion and no switched-off check', t => {
  const switchedOff = written.flatMap(source =>
    /@ts-(ignore|expect-error|nocheck)/.test(source.tree.text) ? [`core/${source.path}`] : [],
  )
  t.deepEqual([...offences(isAny), ...offences(ts.isNonNullExpression), ...switchedOff], [])
})

const offences = (wrong: (node: ts.Node) => boolean): readonly string[] =>
  written.flatMap(source =>
    nodesOf(source.tree)
      .filter(wrong)
      .map(node => placeOf(source, node)),
  )

const isAny = (node: ts.Node): boolean => node.kind === ts.SyntaxKind.AnyKeyword

const isDefaultExport = (node: ts.Node): boolean =>
  ts.isExportAssignment(node) ||
  (ts.canHaveModifiers(node) &&
    (ts.getModifiers(node) ?? []).some(modifier => modifier.kind === ts.SyntaxKind.DefaultKeyword))

test('no file of core is longer than a reader can hold', t => {
  t.deepEqual(
    written.filter(source => source.lines > 300).map(source => `core/${source.path}: ${source.lines} lines`),
    [],
  )
})

test('every room says in a README what it is for', t => {
  t.deepEqual(roomsWithout('README.md'), [])
})

// The product answers any project. What only the recorded cases say (their titles, codes, tokens, ids) must
// not stand in it, nor a finished message about one of their attributes: a message is made from the model.
test('core knows no value that a conformance case sends', t => {
  t.deepEqual(stringsAmong(caseValues()), [])
})

test('core knows no finished message about the conformance project', t => {
  t.deepEqual(stringsAmong(caseMessages()), [])
})

const stringsAmong = (forbidden: ReadonlySet<string>): readonly string[] =>
  sources.flatMap((source: Source) =>
    source.strings.filter(text => forbidden.has(text)).map(text => `core/${source.path}: ${text}`),
  )

// ava asks once after its idle time whether a test still may take longer, and never again: whatever hangs then hangs for ever.
test('no test sets a time limit of its own', t => {
  const files = readdirSync('tests', { recursive: true, encoding: 'utf8' }).filter(path =>
    path.endsWith('.test.ts'),
  )
  const setting = files.filter(path => /\bt\.timeout\([^/]/.test(readFileSync(join('tests', path), 'utf8')))
  t.deepEqual(setting, [])
})

test('what an install brings runs on the oldest Node that is promised: npm warns of nothing', t => {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'))
  const late = Object.entries<{ engines?: { node?: string } }>(packages).filter(
    ([, { engines }]) => engines?.node !== undefined && !runsOn(engines.node, 20, 19),
  )
  t.deepEqual(
    late.map(([name, { engines }]) => `${name} ${engines?.node}`),
    [],
  )
})

/** Of ranges as packages write them: the lower bound of any part counts. */
const runsOn = (range: string, major: number, minor: number): boolean =>
  range.split('||').some(part => {
    const [, sign, from, more = '0'] = /^\s*(>=|\^)?\s*(\d+)(?:\.(\d+))?/.exec(part) ?? []
    if (from === undefined) return part.trim() === '*'
    if (Number(from) === major) return Number(more) <= minor
    return sign === '>=' && Number(from) < major
  })
