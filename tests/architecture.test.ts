import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import ts from 'typescript'
import { findCitations } from '../scripts/citations.ts'
import {
  exportedTwice,
  foldersWithout,
  GENERATED,
  nodesOf,
  placeOf,
  readSources,
  type Source,
} from '../scripts/sources.ts'
import { caseMessages, caseValues } from './architecture/cases.ts'

/** A module imports only modules of an earlier line. Modules of one line do not import each other. */
const LAYERS: readonly (readonly string[])[] = [
  ['core/base'],
  ['core/faults', 'core/observe'],
  ['core/project'],
  ['core/model', 'core/mail'],
  ['core/query', 'core/sql'],
  ['core/access', 'core/plan'],
  ['core/database'],
  ['core/migrate', 'core/cache'],
  ['core/doctor', 'core/explain'],
  ['core/documents'],
  ['core/media', 'core/events'],
  ['core/import'],
  ['core/identity', 'core/plugins', 'core/content'],
  ['core/actions'],
  ['core/rest', 'core/graphql', 'core/idempotency', 'core/documents-api'],
  ['core/openapi'],
  ['core/console'],
  ['core/http'],
  ['core/app'],
  ['core/cluster'],
  ['core/index.ts', 'core/testing.ts'],
  ['tools/transfer'],
  ['tools/strapi'],
  ['tools/cli'],
  // Runs in a browser: nothing imports it, and it imports nothing else.
  ['tools/console'],
]

/** Packages, each with the modules that may import it. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  sequelize: ['core/database'],
  pg: ['core/database'],
  '@electric-sql/pglite': ['core/database'],
  yaml: ['core/project'],
  ajv: ['core/project'],
  re2js: ['core/project'],
  '@sindresorhus/slugify': ['core/model'],
  '@casl/ability': ['core/access'],
  pluralize: ['core/model'],
  bcryptjs: ['core/base'],
  jiti: ['core/plugins'],
  jose: ['core/identity'],
  'openid-client': ['core/identity'],
  nodemailer: ['core/mail'],
  marked: ['core/mail', 'tools/console'],
  '@fastify/busboy': ['core/media'],
  aws4fetch: ['core/media'],
  sharp: ['core/media'],
  'file-type': ['core/media'],
  express: ['core/http'],
  pino: ['core/http', 'core/observe'],
  '@opentelemetry/api': ['core/observe'],
  qs: ['core/rest'],
  graphql: ['core/graphql'],
  '@graphql-tools/merge': ['core/graphql'],
  '@graphql-tools/schema': ['core/graphql'],
  '@graphql-tools/utils': ['core/graphql'],
  commander: ['tools/cli'],
  'json-schema-to-typescript': ['tools/cli'],
  '@babel/parser': ['tools/strapi'],
  'node-sqlite3-wasm': ['tools/strapi'],
  tar: ['tools/strapi'],
  react: ['tools/console'],
  'react-dom': ['tools/console'],
  'react-router-dom': ['tools/console'],
  'ra-core': ['tools/console'],
  '@tanstack/react-query': ['tools/console'],
  dompurify: ['tools/console'],
  elkjs: ['tools/console'],
  slate: ['tools/console'],
  'slate-history': ['tools/console'],
  'slate-react': ['tools/console'],
}

const sources = readSources()
const readJson = (path: string) => JSON.parse(readFileSync(join(import.meta.dirname, '..', path), 'utf8'))
const written = sources.filter(source => !GENERATED.has(source.path))
const layerOf = (module: string): number => LAYERS.findIndex(modules => modules.includes(module))

test('a package that is required by its name or path is in an installation', t => {
  const { dependencies, peerDependencies } = readJson('package.json')
  const installed = new Set(Object.keys({ ...dependencies, ...peerDependencies }))
  const found = (pattern: RegExp): string[] =>
    sources.flatMap(({ path, tree }) =>
      path.startsWith('core/') ? Array.from(tree.text.matchAll(pattern), match => match[1] ?? '') : [],
    )
  t.deepEqual(
    found(/(?:\brequire|\bcreateRequire\([^()]*\))\(\s*'(?!node:)([^']+)'/g).filter(
      name => !installed.has(name),
    ),
    [],
  )
  const loaded = found(/\b(?:packageFile|requirePackage)(?:<.*?>)?\('([^']+)'\)/g)
  t.deepEqual(loaded.sort(), readJson('scripts/required-packages.json').sort())
})

test('every folder and file directly in core and tools is in a layer', t => {
  const unknown = new Set(sources.map(source => source.module).filter(module => layerOf(module) < 0))
  t.deepEqual([...unknown], [])
})

test('a module imports only modules of lower layers', t => {
  const wrong = sources.flatMap(source =>
    source.imports
      .filter(path => !mayImport(source.module, moduleOf(path)))
      .map(path => `${source.path} imports ${path}`),
  )
  t.deepEqual(wrong, [])
})

const moduleOf = (path: string): string => path.split('/').slice(0, 2).join('/')

const mayImport = (from: string, to: string): boolean =>
  from === to || (layerOf(to) >= 0 && layerOf(to) < layerOf(from))

// Files directly in a module's folder compose its subfolders and hold the types that these share, so they do not count.
test('subfolders of a module do not import each other in a cycle', t => {
  t.deepEqual(findCycles(importsOfSubfolders()), [])
})

function importsOfSubfolders(): ReadonlyMap<string, readonly string[]> {
  const inner = sources.filter(({ folder, module }) => folder !== module)
  const folders = new Map(inner.map(({ path, folder }) => [path, folder]))
  const imports = new Map<string, Set<string>>()
  for (const { path, folder, module } of inner) {
    const found = imports.get(folder) ?? new Set()
    for (const name of sources.find(source => source.path === path)?.imports ?? []) {
      const other = folders.get(name)
      if (other && other !== folder && moduleOf(other) === module) found.add(other)
    }
    imports.set(folder, found)
  }
  return new Map([...imports].map(([folder, others]) => [folder, [...others]]))
}

test('no folder has more files than the limit', t => {
  const folders = sources.map(({ folder }) => folder)
  const large = new Set(folders.filter(folder => folders.filter(other => other === folder).length > 30))
  t.deepEqual([...large], [])
})

test('no file imports itself, directly or through others', t => {
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

test('a cycle of imports is reported with its files', t => {
  const imports = new Map([
    ['a.ts', ['b.ts']],
    ['b.ts', ['c.ts']],
    ['c.ts', ['b.ts']],
  ])
  t.deepEqual(findCycles(imports), ['b.ts -> c.ts -> b.ts'])
})

test('a package is imported only in its own module', t => {
  const wrong = sources.flatMap(source =>
    source.packages
      .filter(name => !PACKAGES[name]?.includes(source.module))
      .map(name => `${source.path} imports ${name}`),
  )
  t.deepEqual(wrong, [])
})

test('no two files export the same name', t => {
  t.deepEqual(exportedTwice(written), [])
})

test('exports have names', t => {
  t.deepEqual(offences(isDefaultExport), [])
})

test('there is no any, no non-null assertion and no disabled check', t => {
  const switchedOff = written.flatMap(source =>
    /@ts-(ignore|expect-error|nocheck)/.test(source.tree.text) ? [`${source.path}`] : [],
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

test('no file of core is longer than the limit', t => {
  t.deepEqual(
    written.filter(source => source.lines > 400).map(source => `${source.path}: ${source.lines} lines`),
    [],
  )
})

test('every folder has a README that describes its purpose', t => {
  t.deepEqual(foldersWithout('README.md', sources), [])
})

// The product serves any project. It must not contain values of the recorded cases (titles, codes, tokens, ids)
// or fixed messages about one of their attributes: messages are built from the model.
test('the product contains no value that a conformance case sends', t => {
  t.deepEqual(stringsAmong(caseValues()), [])
})

test('the product contains no message that names types of the conformance project', t => {
  t.deepEqual(stringsAmong(caseMessages()), [])
})

const stringsAmong = (forbidden: ReadonlySet<string>): readonly string[] =>
  sources.flatMap((source: Source) =>
    source.strings.filter(text => forbidden.has(text)).map(text => `${source.path}: ${text}`),
  )

// ava asks once after its idle time whether a test still may take longer, and never again: whatever hangs then hangs for ever.
test('no test sets a time limit of its own', t => {
  const files = readdirSync('tests', { recursive: true, encoding: 'utf8' }).filter(path =>
    path.endsWith('.test.ts'),
  )
  const setting = files.filter(path => /\bt\.timeout\([^/]/.test(readFileSync(join('tests', path), 'utf8')))
  t.deepEqual(setting, [])
})

test('the installed packages run on the oldest supported Node: npm prints no warning', t => {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'))
  const late = Object.entries<{ engines?: { node?: string } }>(packages).filter(
    ([, { engines }]) => engines?.node !== undefined && !runsOn(engines.node, 20, 19),
  )
  t.deepEqual(
    late.map(([name, { engines }]) => `${name} ${engines?.node}`),
    [],
  )
})

/** The lower bound of each part of a version range counts. */
const runsOn = (range: string, major: number, minor: number): boolean =>
  range.split('||').some(part => {
    const [, sign, from, more = '0'] = /^\s*(>=|\^)?\s*(\d+)(?:\.(\d+))?/.exec(part) ?? []
    if (from === undefined) return part.trim() === '*'
    if (Number(from) === major) return Number(more) <= minor
    return sign === '>=' && Number(from) < major
  })

test('every citation leads to a section of docs/reference/', t => {
  t.deepEqual(
    findCitations()
      .filter(({ fault }) => fault !== null)
      .map(({ place, text, fault }) => `${place}: ${text}: ${fault}`),
    [],
  )
})

test('every file that the architecture page names exists', t => {
  const page = readFileSync('docs/architecture.md', 'utf8')
  const missing = [...page.matchAll(/\b(?:core|tools)\/[a-z0-9/-]+\.ts\b/g)].filter(
    ([path]) => !existsSync(path),
  )
  t.deepEqual(missing.map(String), [])
})
