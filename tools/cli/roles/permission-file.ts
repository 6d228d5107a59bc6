import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { didYouMean } from '../../../core/base/nearest.ts'
import { isRecord } from '../../../core/base/plain-data.ts'
import { failed, ok, type Result } from '../../../core/base/result.ts'
import { toQuestion } from '../../../core/explain/answer.ts'
import { type RolesProject, unknownName } from '../../../core/explain/roles-project.ts'
import type { Diagnostic, Path, SourceLocation } from '../../../core/faults/diagnostic.ts'
import { readEnvironment } from '../../../core/project/environment.ts'
import { readYaml, type YamlSource } from '../../../core/project/yaml/read-yaml.ts'
import type { CommandContext } from '../command-options.ts'

/** The file of a project with its permissions as expectations. */
const PERMISSIONS_FILE = join('tests', 'permissions.yaml')

export const EXPECTATION_KINDS = ['may', 'not', 'sees', 'never'] as const
export type Kind = (typeof EXPECTATION_KINDS)[number]

/** A line of the file: what a role is expected to be able to do, or not. */
export interface Expectation {
  readonly kind: Kind
  /** `article.find`, `GET /api/articles`, `article/first`, `article.title`. */
  readonly what: string
  /** Of a request. */
  readonly body?: unknown
  readonly location: SourceLocation
}

/** One entry of the file. Entries with equal `as` have users of their own. */
export interface Group {
  /** A role or an API token. */
  readonly holder: { readonly kind: 'role' | 'token'; readonly key: string }
  /** Attributes of the user, in addition to the role. */
  readonly user: Readonly<Record<string, unknown>>
  readonly expectations: readonly Expectation[]
}

/** Reads the entries of tests/permissions.yaml. Fails with the places of all faults. */
export async function readGroups(
  { folder, env }: CommandContext,
  roles: RolesProject,
): Promise<Result<readonly Group[], Diagnostic>> {
  const file = join(resolve(folder), PERMISSIONS_FILE)
  if (!existsSync(file)) {
    const location = { file: PERMISSIONS_FILE, line: 1, column: 1, source: '' }
    return failed({
      code: 'no-permissions',
      message: 'there is no such file: it lists who may do what',
      path: [],
      location,
    })
  }
  const environment = await readEnvironment(folder, env)
  const source = await readYaml(file, {
    root: resolve(folder),
    environment: environment.ok ? environment.value : env,
  })
  if (!source.ok) return source
  const faults: Diagnostic[] = []
  const groups = toGroups({ source: source.value, roles, faults })
  return faults.length > 0 ? failed(...faults) : ok(groups)
}

interface Parsing {
  readonly source: YamlSource
  readonly roles: RolesProject
  readonly faults: Diagnostic[]
}

function report({ source, faults }: Parsing, path: Path, message: string): void {
  faults.push({ code: 'bad-permissions', message, path, location: source.location(path) })
}

function toGroups(parsing: Parsing): readonly Group[] {
  const { value } = parsing.source
  if (!Array.isArray(value)) {
    report(parsing, [], 'expected a list of entries with `as`, `may`, `not`, `sees` and `never`')
    return []
  }
  return value.flatMap((entry: unknown, at) => {
    if (isRecord(entry)) return toGroup(entry, [at], parsing)
    report(parsing, [at], 'expected a mapping with `as`')
    return []
  })
}

function toGroup(entry: Readonly<Record<string, unknown>>, path: Path, parsing: Parsing): readonly Group[] {
  for (const key of Object.keys(entry))
    if (key !== 'as' && !EXPECTATION_KINDS.some(kind => kind === key))
      report(
        parsing,
        [...path, key],
        `unknown key \`${key}\`${didYouMean(key, ['as', ...EXPECTATION_KINDS])}`,
      )
  const holder = toHolder(entry.as, parsing.roles)
  if (!holder.ok) {
    for (const reason of holder.reasons) report(parsing, [...path, 'as'], reason)
    return []
  }
  const expectations = EXPECTATION_KINDS.flatMap(kind =>
    toExpectations(entry[kind] ?? [], { kind, path: [...path, kind] }, parsing),
  )
  return [{ ...holder.value, expectations }]
}

function toHolder(as: unknown, roles: RolesProject): Result<Omit<Group, 'expectations'>, string> {
  const { role, token, ...user } = isRecord(as) ? as : { role: as, token: undefined }
  if (token !== undefined && (role !== undefined || Object.keys(user).length > 0))
    return failed('an API token has neither a role nor attributes of a user')
  const [kind, key, noun] =
    token === undefined ? (['role', role, 'role'] as const) : (['token', token, 'API token'] as const)
  if (typeof key !== 'string') return failed('`as` is a role, or a mapping with `role` or `token`')
  const known = roles.explainer.holders.flatMap(each => (each.kind === kind ? [each.key] : []))
  return known.includes(key) ? ok({ holder: { kind, key }, user }) : failed(unknownName(noun, key, known))
}

function toExpectations(
  input: unknown,
  { kind, path }: { readonly kind: Kind; readonly path: Path },
  parsing: Parsing,
): readonly Expectation[] {
  const items: readonly unknown[] = Array.isArray(input) ? input : [input]
  return items.flatMap((item, at) => {
    const own = Array.isArray(input) ? [...path, at] : path
    const { request, body, ...rest } = isRecord(item) ? item : { request: item, body: undefined }
    const what = typeof request === 'string' ? request.trim() : ''
    const fault =
      what === '' || Object.keys(rest).length > 0
        ? 'expected a text, or a mapping with `request` and `body`'
        : faultOf(what, kind, parsing.roles)
    if (fault === null)
      return [{ kind, what, location: parsing.source.location(own), ...(body !== undefined && { body }) }]
    report(parsing, own, fault)
    return []
  })
}

/** A request as an expectation. */
export const REQUEST = /^(GET|HEAD|POST|PUT|PATCH|DELETE) (\/\S*)$/

/** Why an expectation means nothing; null: it does. */
function faultOf(what: string, kind: Kind, roles: RolesProject): string | null {
  if (kind === 'may' || kind === 'not') {
    if (REQUEST.test(what)) return null
    const [type = '', action = '', ...rest] = what.split('.')
    if (action === '' || rest.length > 0)
      return `\`${what}\` is neither \`<type>.<action>\` nor a request such as \`GET /api/articles\``
    const question = toQuestion({ type, action, field: undefined }, roles)
    return question.ok ? null : question.reasons.join('; ')
  }
  const [name = '', attribute] = what.split(/[./]/)
  const subject = roles.explainer.subjects.find(each => each.name === name)
  if (!subject?.type)
    return unknownName(
      'type',
      name,
      roles.explainer.subjects.flatMap(each => (each.type ? [each.name] : [])),
    )
  if (!what.includes('.') || subject.type.attributes.has(attribute ?? '')) return null
  return unknownName(`attribute of \`${name}\``, attribute ?? '', [...subject.type.attributes.keys()])
}
