import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { extname, join, relative } from 'node:path'
import {
  buildClientSchema,
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLInputType,
  type GraphQLSchema,
  getIntrospectionQuery,
  type IntrospectionQuery,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  Kind,
  type OperationDefinitionNode,
  parse as parseGraphql,
  print,
  typeFromAST,
  visit,
} from 'graphql'
import { parseDocument } from 'yaml'
import { compileModel } from '../core/model/compile-model.ts'
import type { Attribute, ContentType, Holder, Model, ScalarAttribute } from '../core/model/model.ts'
import { loadProject } from '../core/project/load-project.ts'
import { createTestApp, type TestApp } from '../core/testing.ts'
import { runImportStrapi } from '../tools/cli/import-strapi.ts'
import { paintFor } from '../tools/cli/paint.ts'

// Imports a Strapi project, starts it on an embedded database, writes documents of all its types through the REST API
// and sends the requests of its front-end:
//   npx tsx scripts/try-strapi.ts STRAPI_FOLDER [FRONT_END_FOLDER]
// A front-end's requests are the GraphQL documents in its .graphql and .gql files, with generated variables.
// It prints each answer that has an error, and exits with 1 if there is one.

const TOKEN = 'a-token-of-a-run-that-tries-a-project'

const [source, frontEnd] = process.argv.slice(2)
const failures: string[] = []

/** Adds a token that may do everything: the roles of the project are in its database. */
async function importProject(dir: string, out: string): Promise<void> {
  await runImportStrapi({
    dir,
    folder: out,
    ...{ force: false, json: false, database: undefined, databaseSchema: 'public', timeZone: 'UTC' },
    ...{ content: 'database', env: {}, paint: paintFor(false, {}), write: () => {} },
    writeError: text => void process.stderr.write(text),
  })
  const file = join(out, 'project.yaml')
  const document = parseDocument(await readFile(file, 'utf8'))
  document.set('apiTokens', { trial: { type: 'full-access', secret: TOKEN } })
  await writeFile(file, document.toString())
}

async function tryProject(app: TestApp, out: string): Promise<void> {
  const project = await loadProject(out, process.env)
  if (!project.ok) throw new Error('The project is not in order.')
  const model = compileModel(project.value)
  if (!model.ok) throw new Error('The model is not in order.')
  const documents = await writeDocuments(app, model.value)
  await readDocuments(app, model.value, documents)
  const isRecord = project.value.settings.graphql.config.entityId === 'record'
  const ids = [...documents.values()].map(each => (isRecord ? String(each.id) : each.documentId))
  const slugs = [...documents.values()].flatMap(({ slug }) => slug ?? [])
  if (frontEnd !== undefined) await sendDocuments(app, frontEnd, { ids, slugs })
}

type Written = ReadonlyMap<
  string,
  { readonly id: number; readonly documentId: string; readonly slug?: string }
>

/** Two rounds: the second links documents of types that the first had not written yet. */
async function writeDocuments(app: TestApp, model: Model): Promise<Written> {
  const written = new Map<string, { id: number; documentId: string }>()
  const types = [...model.contentTypes.values()].filter(({ builtIn }) => !builtIn)
  const file = await upload(app)
  let count = 0
  for (const round of [1, 2])
    for (const type of types) {
      const data = samplesOf(type, { written, file, number: ++count, depth: 0 })
      const known = written.get(type.uid)
      const path = `/api/${type.pluralApiId}`
      const isSingle = type.kind === 'single'
      const [method, address] = isSingle
        ? (['PUT', `/api/${type.key}`] as const)
        : round === 1 || known === undefined
          ? (['POST', path] as const)
          : (['PUT', `${path}/${known.documentId}`] as const)
      const answer = await app.request(method, address, { body: { data }, token: TOKEN })
      const { id, documentId } = (answer.body as { data?: { id?: number; documentId?: string } }).data ?? {}
      if (answer.status >= 300 || id === undefined || documentId === undefined)
        failures.push(`${method} ${address}: ${answer.status} ${JSON.stringify(answer.body).slice(0, 600)}`)
      else
        written.set(type.uid, { id, documentId, ...(typeof data.slug === 'string' && { slug: data.slug }) })
    }
  console.log(`${written.size} of ${types.length} types written`)
  return written
}

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='

async function upload(app: TestApp): Promise<number> {
  const form = new FormData()
  form.set('files', new File([Buffer.from(PIXEL, 'base64')], 'pixel.png', { type: 'image/png' }))
  const { status, body } = await app.request('POST', '/api/upload', { body: form, token: TOKEN })
  if (status !== 201) throw new Error(`POST /api/upload: ${status} ${JSON.stringify(body)}`)
  return (body as readonly { id: number }[])[0]?.id ?? 0
}

interface Filling {
  readonly written: Written
  readonly file: number
  readonly number: number
  /** Components around this one. */
  readonly depth: number
}

function samplesOf(holder: Holder, filling: Filling): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const attribute of holder.attributes.values()) {
    if (attribute.system || !attribute.writable) continue
    const value = sampleOf(attribute, filling)
    if (value !== undefined) values[attribute.name] = value
  }
  return values
}

const DEEPEST = 6

function sampleOf(attribute: Attribute, filling: Filling): unknown {
  const inner = { ...filling, depth: filling.depth + 1 }
  switch (attribute.kind) {
    case 'scalar':
      return scalarOf(attribute, filling.number)
    case 'relation': {
      const known = filling.written.get(attribute.target.uid)
      if (known === undefined) return undefined
      return attribute.many ? [known.documentId] : known.documentId
    }
    case 'media':
      if (!attribute.allowedTypes.includes('images')) return undefined
      return attribute.many ? [filling.file] : filling.file
    case 'component': {
      if (filling.depth > DEEPEST) return undefined
      const one = () => samplesOf(attribute.component, inner)
      return attribute.repeatable ? Array.from({ length: Math.max(1, attribute.min ?? 1) }, one) : one()
    }
    case 'zone': {
      const length = Math.min(attribute.components.length, attribute.max ?? 100)
      return attribute.components
        .slice(0, length)
        .map(component => ({ __component: component.uid, ...samplesOf(component, inner) }))
    }
    default:
      return undefined
  }
}

function scalarOf(attribute: ScalarAttribute, number: number): unknown {
  const { type, values, min = 0, max = Number.POSITIVE_INFINITY, minLength = 0, maxLength = 200 } = attribute
  const text = `${attribute.name} ${number}`.padEnd(minLength, 'x').slice(0, maxLength)
  switch (type) {
    case 'string':
    case 'text':
    case 'richtext':
      return attribute.regex ? undefined : text
    case 'uid':
      return `${attribute.name}-${number}`.toLowerCase().replace(/[^a-z0-9-]/g, '-')
    case 'email':
      return `one${number}@example.org`
    case 'password':
      return 'Secret-of-one-1'
    case 'integer':
    case 'biginteger':
      return Math.min(Number(min) + number, Number(max))
    case 'float':
    case 'decimal':
      return Number(min) + 0.5
    case 'boolean':
      return number % 2 === 0
    case 'date':
      return '2026-01-02'
    case 'datetime':
    case 'timestamp':
      return '2026-01-02T03:04:05.000Z'
    case 'time':
      return '03:04:05.000'
    case 'enumeration':
      return values?.[number % values.length]
    case 'json':
      return { number }
    case 'array':
      return [number]
    case 'blocks':
      return [{ type: 'paragraph', children: [{ type: 'text', text }] }]
    default:
      return undefined
  }
}

/** The lists and documents of all types, as a front-end asks for them. */
async function readDocuments(app: TestApp, model: Model, written: Written): Promise<void> {
  let count = 0
  for (const type of model.contentTypes.values())
    for (const path of readsOf(type, written)) {
      const { status, body } = await app.request('GET', path, { token: TOKEN })
      count++
      if (status !== 200) failures.push(`GET ${path}: ${status} ${JSON.stringify(body).slice(0, 400)}`)
    }
  console.log(`${count} REST reads`)
}

function readsOf(type: ContentType, written: Written): readonly string[] {
  const known = written.get(type.uid)
  if (known === undefined) return []
  const queries = ['', '?populate=*', `?${shorten(deepPopulate(type))}`]
  if (type.kind === 'single') return queries.map(query => `/api/${type.key}${query}`)
  const list = `/api/${type.pluralApiId}`
  const all = [
    ...queries,
    '?sort=createdAt:desc&pagination[pageSize]=5',
    '?pagination[start]=0&pagination[limit]=3',
  ]
  return [...all.map(query => list + query), ...queries.map(query => `${list}/${known.documentId}${query}`)]
}

/** Node's HTTP parser takes addresses of up to 16 KB. */
const shorten = (query: string): string =>
  query.length < 12_000 ? query : query.slice(0, query.lastIndexOf('&', 12_000))

/** Four levels below the document, zones by component. */
function deepPopulate(holder: Holder, prefix = 'populate', depth = 0): string {
  const below = (inner: Holder, key: string) =>
    (depth < 3 && deepPopulate(inner, `${key}[populate]`, depth + 1)) || `${key}=true`
  return [...holder.attributes.values()]
    .filter(({ system, private: isPrivate }) => !system && !isPrivate)
    .flatMap(attribute => {
      const key = `${prefix}[${attribute.name}]`
      if (attribute.kind === 'media') return `${key}=true`
      if (attribute.kind === 'relation') return below(attribute.target, key)
      if (attribute.kind === 'component') return below(attribute.component, key)
      if (attribute.kind !== 'zone') return []
      return attribute.components.map(component => below(component, `${key}[on][${component.uid}]`))
    })
    .join('&')
}

const DOCUMENTS = new Set(['.graphql', '.gql'])

async function graphqlFiles(dir: string): Promise<readonly string[]> {
  const names = await readdir(dir, { recursive: true })
  return names
    .filter(name => DOCUMENTS.has(extname(name)) && !name.includes('node_modules'))
    .map(name => join(dir, name))
}

interface Known {
  readonly ids: readonly string[]
  readonly slugs: readonly string[]
}

/** Each operation is sent with the fragments that it names, from whichever file. */
async function sendDocuments(app: TestApp, dir: string, known: Known): Promise<void> {
  const { status, body } = await app.request('POST', '/graphql', {
    body: { query: getIntrospectionQuery() },
    token: TOKEN,
  })
  if (status === 404) {
    console.log('The project has no GraphQL plugin: no operation is sent')
    return
  }
  const schema = buildClientSchema((body as { data: IntrospectionQuery }).data)
  const fragments = new Map<string, FragmentDefinitionNode>()
  const operations: { file: string; operation: OperationDefinitionNode }[] = []
  for (const file of await graphqlFiles(dir)) {
    const { definitions } = parseGraphql(await readFile(file, 'utf8'))
    for (const definition of definitions) {
      if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition)
      if (definition.kind === Kind.OPERATION_DEFINITION)
        operations.push({ file: relative(dir, file), operation: definition })
    }
  }
  let good = 0
  for (const { file, operation } of operations) {
    const query = print(withFragments(operation, fragments))
    const variables = variablesOf(operation, schema, known)
    const { status, body: answer } = await app.request('POST', '/graphql', {
      body: { query, variables },
      token: TOKEN,
    })
    const errors = (answer as { errors?: readonly { message: string }[] }).errors ?? []
    if (status === 200 && errors.length === 0) good++
    else
      failures.push(
        `${file} ${operation.name?.value}: ${status} ${errors
          .map(({ message }) => message)
          .join(' | ')
          .slice(0, 900)}`,
      )
  }
  console.log(`${good} of ${operations.length} operations answered`)
}

function withFragments(
  operation: OperationDefinitionNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): DocumentNode {
  const used = new Map<string, FragmentDefinitionNode>()
  const add = (node: OperationDefinitionNode | FragmentDefinitionNode) =>
    visit(node, {
      FragmentSpread({ name }) {
        const found = fragments.get(name.value)
        if (!found || used.has(name.value)) return
        used.set(name.value, found)
        add(found)
      },
    })
  add(operation)
  return { kind: Kind.DOCUMENT, definitions: [operation, ...used.values()] }
}

function variablesOf(
  { variableDefinitions = [] }: OperationDefinitionNode,
  schema: GraphQLSchema,
  { ids, slugs }: Known,
): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const { variable, type, defaultValue } of variableDefinitions) {
    const name = variable.name.value
    const input = typeFromAST(schema, type as never) as GraphQLInputType | undefined
    if (!input || (defaultValue && !isNonNullType(input))) continue
    values[name] = /slug/i.test(name) ? (slugs[0] ?? 'none') : inputOf(input, ids)
  }
  return values
}

function inputOf(type: GraphQLInputType, ids: readonly string[]): unknown {
  if (isNonNullType(type)) return inputOf(type.ofType, ids)
  if (isListType(type)) return [inputOf(type.ofType, ids)]
  if (isEnumType(type)) return type.getValues()[0]?.name
  if (isInputObjectType(type))
    return Object.fromEntries(
      Object.values(type.getFields())
        .filter(field => isNonNullType(field.type))
        .map(field => [field.name, inputOf(field.type, ids)]),
    )
  switch (type.name) {
    case 'Int':
    case 'Float':
      return 2
    case 'Boolean':
      return false
    case 'ID':
      return ids[0]
    case 'I18NLocaleCode':
      return 'en'
    case 'DateTime':
      return '2026-01-02T03:04:05.000Z'
    case 'Date':
      return '2026-01-02'
    default:
      return 'text'
  }
}

if (source === undefined) {
  console.error('usage: npx tsx scripts/try-strapi.ts STRAPI_FOLDER [FRONT_END_FOLDER]')
  process.exit(2)
}

const folder = await mkdtemp(join(tmpdir(), 'plinth-try-'))
try {
  await importProject(source, folder)
  const app = await createTestApp({ project: folder })
  try {
    await tryProject(app, folder)
  } finally {
    await app.close()
  }
} finally {
  await rm(folder, { recursive: true, force: true })
}
for (const failure of failures) console.log(failure)
process.exitCode = failures.length > 0 ? 1 : 0
