import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Caller } from '../../core/access/caller.ts'
import { type Blueprint, compileApp } from '../../core/app/compile-app.ts'
import type { FormatName } from '../../core/graphql/formats/format.ts'
import { planQuery } from '../../core/plan/plan-query.ts'
import type { AnswerShape } from '../../core/plan/row.ts'
import type { Query } from '../../core/query/query.ts'
import { printAnswerStatement } from '../../core/sql/print.ts'
import type { Statement } from '../../core/sql/statement.ts'
import { parseListQuery, parseOneQuery, parseQueryString, restrict } from '../harness/attempts.ts'
import { temporaryFolder } from '../harness/folder.ts'

const FOLDER = join(import.meta.dirname, '..', 'golden')
const CASES = join(FOLDER, 'queries')

/** One case: what REST asks, what GraphQL asks where there is such a form, and what both become. */
export interface GoldenCase {
  readonly name: string
  readonly request: string
  /** The same read in each format of GraphQL. */
  readonly operations: Readonly<Record<FormatName, string | null>>
}

export const goldenCases = (): readonly GoldenCase[] =>
  readdirSync(CASES).map(name => ({
    name,
    request: readFileSync(join(CASES, name, 'request.txt'), 'utf8').trim(),
    operations: {
      nested: readIfThere(join(CASES, name, 'operation.graphql')),
      flat: readIfThere(join(CASES, name, 'flat.graphql')),
    },
  }))

const readIfThere = (file: string): string | null => (existsSync(file) ? readFileSync(file, 'utf8') : null)

/** The text of a case's file; written first where UPDATE_GOLDEN asks for it. */
export function golden(name: string, file: string, actual: string): string {
  const path = join(CASES, name, file)
  if (process.env.UPDATE_GOLDEN) {
    mkdirSync(join(CASES, name), { recursive: true })
    writeFileSync(path, actual)
  }
  return readFileSync(path, 'utf8')
}

export async function goldenBlueprint(): Promise<Blueprint> {
  const compiled = await compileApp(FOLDER, {})
  if (!compiled.ok) throw new Error(compiled.reasons.map(({ message }) => message).join('\n'))
  return compiled.value
}

/** Two roles whose conditions differ only in values, and in which of them occur several times. */
const ROLES = `
  near:
    permissions:
      article: { find: { where: { price: { $lt: 5 } } }, findOne: { where: { price: { $lt: 5 } } }, readDrafts: { where: { price: { $lt: 5 } } } }
      author: { find: { where: { name: { $contains: a_% } } } }
      tag: { find: { where: { $or: [{ weight: { $in: [1, 2] } }, { name: { $null: true } }] } } }
      shelf: [find, findOne]
  far:
    permissions:
      article: { find: { where: { price: { $lt: 7 } } }, findOne: { where: { price: { $lt: 9 } } }, readDrafts: { where: { price: { $lt: 7 } } } }
      author: { find: { where: { name: { $contains: b } }, fields: [name, articles] } }
      tag: { find: { where: { $or: [{ weight: { $in: [3] } }, { name: { $null: true } }] } } }
      shelf: [find, findOne]
`

/** The golden project with them. */
export async function ruledBlueprint(): Promise<Blueprint> {
  const folder = temporaryFolder()
  try {
    const yaml = readFileSync(join(FOLDER, 'project.yaml'), 'utf8')
    folder.write('project.yaml', yaml.replace('roles:', `roles:${ROLES}`))
    return must(await compileApp(folder.path, {}))
  } finally {
    folder.remove()
  }
}

export const ruledCallers = ({ access }: Blueprint): readonly Caller[] =>
  ['near', 'far'].map(name => {
    const grants = access.roles.get(name)
    if (!grants) throw new Error(`no role ${name}`)
    return { kind: 'user', grants, user: {} }
  })

/** `GET /api/articles?…`, optionally with ` (v4)` at its end. */
export function parseRequest(
  request: string,
  { model, project }: Blueprint,
): { query: Query; shape: AnswerShape } {
  const [, plain = '', v4] = /^GET \/api\/(.*?)( \(v4\))?$/s.exec(request) ?? []
  const [path = '', search = ''] = plain.replace(/\n\s*/g, '').split('?')
  const [plural, documentId] = path.split('/')
  const type = [...model.contentTypes.values()].find(each => each.pluralApiId === plural)
  if (!type) throw new Error(`no ${plural}`)
  const parameters = must(parseQueryString(search))
  const options = { model, settings: project.settings.rest }
  const query = documentId
    ? must(parseOneQuery(type, documentId, parameters, options))
    : must(parseListQuery(type, parameters, options)).query
  return { query, shape: v4 ? 'v4' : 'flat' }
}

export function toStatement(
  query: Query,
  shape: AnswerShape,
  { model, storage, access }: Blueprint,
): Statement {
  const restricted = must(restrict(query, access.publicCaller))
  return printAnswerStatement(planQuery(restricted, { storage, defaultLocale: model.defaultLocale, shape }))
}

export function must<Value>(
  result: { ok: true; value: Value } | { ok: false; reasons: readonly { message: string }[] },
): Value {
  if (!result.ok) throw new Error(result.reasons.map(({ message }) => message).join('\n'))
  return result.value
}

/** The AST as text: content-types, components and attributes by their names, empty parts left out. */
export const printQuery = (query: Query): string => `${JSON.stringify(query, byName, 1)}\n`

function byName(key: string, value: unknown): unknown {
  if (value === null || (Array.isArray(value) && value.length === 0)) return undefined
  if (key === 'type' || key === 'holder') return (value as { uid: string }).uid
  if (key === 'attribute') return (value as { name: string }).name
  if (key === 'fields' || key === 'attributes')
    return (value as readonly { name: string }[]).map(each => each.name).join(' ')
  return value
}
