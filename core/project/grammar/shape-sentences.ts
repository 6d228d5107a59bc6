import type { ErrorObject } from 'ajv'
import { didYouMean, nearest, synonymsOf } from '../../base/nearest.ts'
import { ticked } from '../../base/text.ts'
import type { Path } from '../../faults/diagnostic.ts'
import { optionOf } from '../environment.ts'
import type { ProjectFinding } from '../faults.ts'
import { isProjectSecret } from '../secret-ranges.ts'
import { locate, type YamlNode } from '../yaml/yaml-tree.ts'
import { type JsonSchema, resolveRef, typeTags, wordFor } from './project-schema.ts'

/** The context of an error message. */
interface MessageContext {
  /** The path of the value that does not match. */
  readonly path: Path
  readonly tree: YamlNode
  readonly schema: JsonSchema
}

type Sentence = (error: ErrorObject, context: MessageContext) => ProjectFinding

/** The messages for ajv's errors, by keyword. */
const SENTENCES: Readonly<Record<string, Sentence>> = {
  additionalProperties: unknownKey,
  required: missingKey,
  type: wrongType,
  enum: unknownWord,
  const: badValue,
  pattern: (error, context) =>
    error.propertyName === undefined ? badValue(error, context) : badName(error, context),
  minimum: (error, context) => outOfBounds(context, `at least ${error.params.limit}`),
  exclusiveMinimum: (error, context) => outOfBounds(context, `more than ${error.params.limit}`),
  maximum: (error, context) => outOfBounds(context, `at most ${error.params.limit}`),
  minLength: (_, context) => ({
    code: 'bad-value',
    message: 'the text must not be empty',
    path: context.path,
  }),
  maxLength: (error, context) => outOfBounds(context, `at most ${error.params.limit} characters`),
  minItems: (_, context) => ({
    code: 'bad-value',
    message: 'the list must not be empty',
    path: context.path,
  }),
  uniqueItems: repeatedItem,
}

export function toFinding(error: ErrorObject, context: MessageContext): ProjectFinding {
  const sentence = SENTENCES[error.keyword] ?? badValue
  return sentence(error, context)
}

/** Longer lists of valid words are left out of the message. */
const MAX_LISTED = 24

const listed = (words: readonly string[], lead: string): string =>
  words.length > 0 && words.length <= MAX_LISTED ? `: ${lead} ${ticked(words)}` : ''

function unknownKey(error: ErrorObject, context: MessageContext): ProjectFinding {
  const key = String(error.params.additionalProperty)
  const known = Object.keys(error.parentSchema?.properties ?? {})
  const path = [...context.path, key]
  const instead = adviceFor(context.path, key)
  if (instead)
    return { code: 'unknown-key', message: `unknown key \`${key}\`: ${instead}`, path, atKey: true }
  const owners = typesWithKey(context.schema, key)
  const type = wordAt(context, [...context.path, 'type'])
  const isAttribute = isAttributePath(context.path)
  if (isAttribute && type === 'uid' && key === 'unique') {
    return { code: 'unknown-key', message: 'unknown key `unique`: a uid is always unique', path, atKey: true }
  }
  if (isAttribute && type !== undefined && owners.length > 0) {
    const meant = synonymsOf(key).find(each => known.includes(each))
    const instead = meant === undefined ? '' : `; did you mean \`${meant}\`?`
    const message = `unknown key \`${key}\`: an attribute of type \`${type}\` has none, it belongs to ${ticked(owners)}${instead}`
    return { code: 'unknown-key', message, path, atKey: true }
  }
  if (key === 'permissions' && context.path[0] === 'apiTokens') {
    return {
      code: 'unknown-key',
      message: 'only a token of type `custom` has `permissions`',
      path,
      atKey: true,
    }
  }
  const hint =
    tooDeep(context) ||
    didYouMean(key, known) ||
    oneDeeper(key, error.parentSchema, context.schema) ||
    listed(known, 'the keys here are')
  return { code: 'unknown-key', message: `unknown key \`${key}\`${hint}`, path, atKey: true }
}

/** The advice for an entry of a section that has the name of a section: its lines are most likely indented too far. */
function tooDeep({ path, schema }: MessageContext): string {
  const [section, entry] = path
  const isSection = path.length === 2 && Object.hasOwn(schema.properties ?? {}, String(entry))
  return isSection ? `: is the section \`${entry}\` indented too far, into \`${section}\`?` : ''
}

/** The advice for a key that mappings in the same mapping have. */
function oneDeeper(key: string, parent: JsonSchema | undefined, root: JsonSchema): string {
  const properties: Readonly<Record<string, JsonSchema>> = parent?.properties ?? {}
  const owners = Object.entries(properties).filter(([, schema]) =>
    [schema, ...(schema.allOf ?? []).flatMap(branch => (branch.else ? [branch.else] : []))].some(each =>
      Object.hasOwn(resolveRef(each, root).properties ?? {}, key),
    ),
  )
  return owners.length > 0 ? `: it is a key of ${ticked(owners.map(([name]) => name))}` : ''
}

/** The attribute types that allow a key. */
function typesWithKey(schema: JsonSchema, key: string): readonly unknown[] {
  return attributeBranches(schema)
    .filter(branch => Object.hasOwn(branch.properties ?? {}, key))
    .flatMap(typeTags)
}

function attributeBranches(schema: JsonSchema): readonly JsonSchema[] {
  const branches = (schema.$defs?.attribute?.anyOf ?? []).map(branch => resolveRef(branch, schema))
  return branches.filter(branch => branch.type === 'object')
}

function missingKey(error: ErrorObject, context: MessageContext): ProjectFinding {
  const key = String(error.params.missingProperty)
  const missing: JsonSchema = resolveRef(error.parentSchema?.properties?.[key] ?? {}, context.schema)
  const meaning = missing.enum
    ? `: one of ${ticked(missing.enum)}`
    : `: ${lowerFirst(missing.description ?? '').replace(/\.$/, '')}`
  return { code: 'missing-key', message: `missing key \`${key}\`${meaning}`, path: context.path, atKey: true }
}

const lowerFirst = (text: string): string =>
  /^[A-Z][a-z]/.test(text) ? text.slice(0, 1).toLowerCase() + text.slice(1) : text

function wrongType(error: ErrorObject, context: MessageContext): ProjectFinding {
  if (context.path.length === 0 && foundAt(context) === 'nothing') {
    return { code: 'missing-key', message: 'the file is empty: a project has at least a `name`', path: [] }
  }
  const wanted: readonly string[] = [error.params.type].flat()
  const expected = error.parentSchema?.patternErrorMessage ?? wanted.map(wordFor).join(' or ')
  const message = `expected ${expected}, found ${foundAt(context)}${tooDeep(context) || remedy(wanted, error, context)}`
  return { code: 'wrong-type', message, path: context.path }
}

const YES_OR_NO: ReadonlyMap<string, string> = new Map([
  ['yes', 'true'],
  ['on', 'true'],
  ['no', 'false'],
  ['off', 'false'],
])

/** Values of these types that were put in quotes. */
const UNQUOTED: Readonly<Record<string, RegExp>> = {
  boolean: /^(?:true|false)$/,
  integer: /^-?\d{1,15}$/,
  number: /^-?\d{1,15}(?:\.\d{1,15})?$/,
}

function remedy(
  wanted: readonly string[],
  { parentSchema }: ErrorObject,
  { path, tree, schema }: MessageContext,
): string {
  const { node } = locate(tree, path)
  if (node.kind !== 'scalar' || node.variables.length > 0 || isProjectSecret(path)) return ''
  const { value } = node
  if (wanted.includes('boolean') && typeof value === 'string') {
    const meant = YES_OR_NO.get(value.toLowerCase())
    if (meant !== undefined) return `: write \`${meant}\``
  }
  if (typeof value === 'string' && wanted.some(type => UNQUOTED[type]?.test(value)))
    return `: write \`${value}\` without quotes`
  if (isFreeText(wanted, parentSchema) && value !== null) return ': put it in quotes'
  if (!meansList(wanted) || value === null) return ''
  const { enum: words } = resolveRef(parentSchema?.items ?? {}, schema)
  if (words && !words.includes(value)) return `: its entries are ${ticked(words)}`
  return typeof value === 'string' ? `: write \`[${value}]\`` : ''
}

/** A single value is most likely the only entry of the list. */
const meansList = (wanted: readonly string[]): boolean =>
  wanted.includes('array') && wanted.every(type => type === 'array' || type === 'object')

const isFreeText = (wanted: readonly string[], schema: JsonSchema | undefined): boolean =>
  wanted[0] === 'string' &&
  schema?.pattern === undefined &&
  schema?.enum === undefined &&
  schema?.allOf === undefined

function badValue(error: ErrorObject, context: MessageContext): ProjectFinding {
  const expected = error.parentSchema?.patternErrorMessage ?? `\`${String(error.params.allowedValue)}\``
  return { code: 'bad-value', message: `expected ${expected}, found ${foundAt(context)}`, path: context.path }
}

const outOfBounds = (context: MessageContext, bounds: string): ProjectFinding => ({
  code: 'bad-value',
  message: `expected ${bounds}, found ${foundAt(context)}`,
  path: context.path,
})

function badName(error: ErrorObject, context: MessageContext): ProjectFinding {
  const name = String(error.propertyName)
  const expected = String(error.parentSchema?.patternErrorMessage)
  return {
    code: 'bad-name',
    message: `bad name \`${name}\`: expected ${expected}`,
    path: [...context.path, name],
    atKey: true,
  }
}

function repeatedItem(error: ErrorObject, context: MessageContext): ProjectFinding {
  const [first, second] = [Number(error.params.j), Number(error.params.i)].toSorted((a, b) => a - b)
  const path = [...context.path, second ?? 0]
  const related = { path: [...context.path, first ?? 0], message: 'it is also here' }
  return {
    code: 'duplicate-name',
    message: `${foundAt({ ...context, path })} is in the list twice`,
    path,
    related,
  }
}

/** Names of other systems for attribute types. */
const SYNONYMS: Readonly<Record<string, string>> = {
  number: 'integer',
  int: 'integer',
  double: 'float',
  bool: 'boolean',
  object: 'json',
  list: 'array',
  image: 'media',
  images: 'media',
  file: 'media',
  markdown: 'richtext',
  select: 'enumeration',
  enum: 'enumeration',
  zone: 'dynamiczone',
  reference: 'relation',
  varchar: 'string',
  char: 'string',
  uuid: 'string',
  longtext: 'text',
  html: 'richtext',
  wysiwyg: 'richtext',
  slug: 'uid',
  bigint: 'biginteger',
  long: 'biginteger',
  smallint: 'integer',
  tinyint: 'integer',
  serial: 'integer',
  numeric: 'decimal',
  money: 'decimal',
  real: 'float',
  jsonb: 'json',
  timestamptz: 'datetime',
  tags: 'array',
  link: 'relation',
}

function unknownWord(error: ErrorObject, context: MessageContext): ProjectFinding {
  const { path } = context
  const allowed: readonly string[] = [error.params.allowedValues].flat().map(String)
  const word = wordAt(context, path)
  if (word === undefined)
    return badValue({ ...error, parentSchema: { patternErrorMessage: `one of ${ticked(allowed)}` } }, context)
  const isShort = isAttributePath(path)
  if (isShort || (path.at(-1) === 'type' && isAttributePath(path.slice(0, -1))))
    return unknownAttributeType(word, context, isShort)
  const isWeight = path.at(-2) === 'attributes' && path.at(-3) === 'search'
  const noun = isWeight ? 'weight' : typeof path.at(-1) === 'string' ? String(path.at(-1)) : 'word'
  // All weights are one letter, and equally near.
  const hint = (isWeight ? '' : didYouMean(word, allowed)) || listed(allowed, 'one of')
  return { code: 'unknown-word', message: `unknown ${noun} \`${word}\`${hint}`, path }
}

/** `contentTypes.article.attributes.title`, not the weight `contentTypes.article.search.attributes.title`. */
const isAttributePath = (path: Path): boolean =>
  path.at(-2) === 'attributes' && path.length === (path[0] === 'user' ? 3 : 4)

function unknownAttributeType(
  word: string,
  { schema, path }: MessageContext,
  isShort: boolean,
): ProjectFinding {
  const types = attributeBranches(schema).flatMap(typeTags).map(String)
  if (isShort && types.includes(word)) {
    const message = `an attribute of type \`${word}\` needs more than its type: write \`{ type: ${word}, … }\``
    return { code: 'bad-value', message, path }
  }
  const meant = Object.hasOwn(SYNONYMS, word.toLowerCase())
    ? SYNONYMS[word.toLowerCase()]
    : nearest(word, types)
  const hint = meant === undefined ? `: one of ${ticked(types)}` : `: did you mean \`${meant}\`?`
  return { code: 'unknown-word', message: `unknown type \`${word}\`${hint}`, path }
}

/** The text at a path, where it may be shown. */
function wordAt({ tree }: MessageContext, path: Path): string | undefined {
  const { node, exact } = locate(tree, path)
  const isShown = exact && node.kind === 'scalar' && node.variables.length === 0 && !isProjectSecret(path)
  return isShown && typeof node.value === 'string' ? node.value : undefined
}

const LONGEST_SHOWN = 60

/** The description of the value at a path. Secrets and values from the environment are only named. */
function foundAt({ tree, path }: MessageContext): string {
  const { node } = locate(tree, path)
  if (node.kind !== 'scalar') return node.kind === 'list' ? 'a list' : 'a mapping'
  if (node.variables.length > 0)
    return `the value of ${node.variables.map(name => `\`${optionOf(name) ?? `\${${name}}`}\``).join(' and ')}`
  if (node.value === null) return 'nothing'
  if (isProjectSecret(path)) return 'a value that is not shown'
  const text = JSON.stringify(node.value)
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text
}

/** Keys of Strapi and Apollo with their replacement here, by the path of the mapping. */
const ADVICE: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'graphql.config': {
    apolloServer: 'it is called `serverOptions` here',
    landingPage:
      'the playground is shown in development; `playgroundAlways: true` shows it in production, too',
    maxLimit: 'it is called `amountLimit` here',
    artifacts: 'the schema is what an introspection query answers',
    generateArtifacts: 'the schema is what an introspection query answers',
  },
  'graphql.config.limits': {
    cost: 'nothing is estimated any more: `database.limits.bytes` and `database.limits.time` bound what is read',
    depth: 'use `graphql.config.depthLimit`',
    bytes: 'use `database.limits.bytes`',
  },
  'graphql.config.serverOptions': {
    playground: 'use `graphql.config.playgroundAlways`',
    landingPage: 'use `graphql.config.playgroundAlways`',
    debug: 'stack traces are in the log alone',
    formatError: 'errors have the form of the contract; a resolver can throw the errors of `plinth`',
    cors: 'use `server.cors`',
    path: 'use `graphql.config.endpoint`',
    bodyParserConfig: 'use `server.bodyLimit`',
    uploads: 'use `upload.sizeLimit`',
    persistedQueries: 'use `graphql.config.trustedDocuments`',
    documentStore: 'use `cache`, and `graphql.config.trustedDocuments`',
    cacheControl: 'responses are cached by the server itself: use `cache` at the top of the file',
    validationRules: 'use `graphql.config.depthLimit` and `graphql.config.limits`',
    parseOptions: 'use `graphql.config.limits.tokens`',
    depthLimit: 'use `graphql.config.depthLimit`',
    logger: 'use `server.logLevel`',
    nodeEnv: 'set the environment variable NODE_ENV',
    stopOnTerminationSignals: 'the server ends by itself on SIGTERM and SIGINT',
    hideSchemaDetailsFromClientErrors: 'errors name no part of the schema where `introspection` is off',
    context: 'use an extension (docs/plugins.md)',
    plugins: 'use an extension (docs/plugins.md)',
    schema: 'use an extension (docs/plugins.md)',
    typeDefs: 'use an extension (docs/plugins.md)',
    resolvers: 'use an extension (docs/plugins.md)',
    schemaDirectives: 'use an extension (docs/plugins.md)',
    dataSources: 'use an extension (docs/plugins.md)',
    rootValue: 'use an extension (docs/plugins.md)',
    fieldResolver: 'use an extension (docs/plugins.md)',
    subscriptions: 'there are none',
    mocks: 'there are none',
    gateway: 'there is none',
    apollo: 'there is no connection to Apollo GraphOS',
    engine: 'there is no connection to Apollo GraphOS',
    reporting: 'there is no connection to Apollo GraphOS',
  },
}

/** The advice for an unknown key; undefined if there is none. */
function adviceFor(path: readonly (string | number)[], key: string): string | undefined {
  const known = ADVICE[path.join('.')]
  return known && Object.hasOwn(known, key) ? known[key] : undefined
}
