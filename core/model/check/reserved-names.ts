import { BUILT_IN_TYPES } from '../built-in-types.ts'
import { attributePath, type Declarations, declaredAttributes } from '../declarations.ts'
import { apiIdOf } from '../model.ts'
import type { ModelFinding } from './finding.ts'

/** Subjects of permissions, first segments of routes, and names of built-in relation targets. */
export const RESERVED_KEYS: ReadonlySet<string> = new Set([
  'user',
  'users',
  'auth',
  'upload',
  'i18n',
  'users-permissions',
  'role',
  'file',
])

/** System attributes, keys that the wire formats use next to attributes, and inherited properties of JavaScript objects. */
export const RESERVED_ATTRIBUTES: ReadonlySet<string> = new Set([
  'id',
  'documentId',
  'createdAt',
  'updatedAt',
  'publishedAt',
  'locale',
  'localizations',
  'createdBy',
  'updatedBy',
  'and',
  'or',
  'not',
  '__component',
  '__typename',
  'prototype',
  ...Object.getOwnPropertyNames(Object.prototype),
])

export function* reservedNames(declarations: Declarations): Generator<ModelFinding> {
  yield* reservedKeys(declarations)
  yield* takenPaths(declarations)
  yield* reservedTables(declarations)
  yield* reservedAttributes(declarations)
  yield* userAttributes(declarations)
}

function* reservedKeys({ types }: Declarations): Generator<ModelFinding> {
  for (const type of types) {
    if (type.builtIn) continue
    if (RESERVED_KEYS.has(type.key)) {
      yield {
        code: 'reserved-name',
        message: `\`${type.key}\` is a reserved name`,
        path: type.path,
        atKey: true,
      }
    } else if (type.kind === 'collection' && RESERVED_KEYS.has(type.pluralApiId)) {
      const message = `\`${type.pluralApiId}\`, the plural API ID of \`${type.key}\`, is a reserved name`
      yield { code: 'reserved-name', message, path: [...type.path, 'pluralApiId'] }
    }
  }
}

/** GraphQL and the metrics answer at their own paths, which may be below the prefix of REST. */
function* takenPaths({ types, settings }: Declarations): Generator<ModelFinding> {
  const { rest, graphql, server } = settings
  const served = [
    ...(graphql.enabled ? Object.keys(graphql.endpoints) : []).map(at => ({
      at,
      source: 'the GraphQL endpoint',
    })),
    ...(server.metrics.enabled && server.metrics.port === null
      ? [{ at: server.metrics.path, source: 'the metrics' }]
      : []),
  ]
  for (const type of types) {
    if (type.builtIn) continue
    const own = `${rest.prefix}/${apiIdOf(type)}`
    const other = served.find(({ at }) => `${at}/`.toLowerCase().startsWith(`${own}/`.toLowerCase()))
    if (!other) continue
    const message = `content-type \`${type.key}\` at \`${own}\` and ${other.source} at \`${other.at}\` would hide each other`
    yield { code: 'reserved-name', message, path: type.path, atKey: true }
  }
}

function* reservedTables({ types }: Declarations): Generator<ModelFinding> {
  for (const type of types) {
    const prefix = ['plinth_', 'pg_'].find(start => type.tableName.startsWith(start))
    if (type.builtIn || prefix === undefined) continue
    const message = `table names that begin with \`${prefix}\` are reserved`
    yield { code: 'reserved-name', message, path: [...type.path, 'tableName'] }
  }
}

function* reservedAttributes(declarations: Declarations): Generator<ModelFinding> {
  for (const { holder, name } of declaredAttributes(declarations)) {
    if (!RESERVED_ATTRIBUTES.has(name)) continue
    yield {
      code: 'reserved-name',
      message: `\`${name}\` is a reserved name`,
      path: attributePath(holder, name),
      atKey: true,
    }
  }
}

function* userAttributes({ settings }: Declarations): Generator<ModelFinding> {
  const builtIn = BUILT_IN_TYPES.find(({ key }) => key === 'user')?.attributes ?? {}
  for (const name of Object.keys(settings.user.attributes)) {
    if (!Object.hasOwn(builtIn, name)) continue
    const message = `the built-in user already has an attribute \`${name}\``
    yield { code: 'reserved-name', message, path: ['user', 'attributes', name], atKey: true }
  }
}

/** PostgreSQL's limit for a name in bytes. Statements use attribute names as column names. */
const LONGEST = 63

export function* nameLengths(declarations: Declarations): Generator<ModelFinding> {
  for (const { holder, name } of declaredAttributes(declarations)) {
    if (name.length <= LONGEST) continue
    const message = `the name has ${name.length} characters; an attribute's has at most ${LONGEST}`
    yield { code: 'name-too-long', message, path: attributePath(holder, name), atKey: true }
  }
}
