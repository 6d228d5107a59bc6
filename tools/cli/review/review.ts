import { isDeepStrictEqual } from 'node:util'
import { openProjectDatabase } from '../../../core/app/open-project-database.ts'
import { describeLeftover, printReason } from '../../../core/app/start-fault.ts'
import { failed, ok, type Result } from '../../../core/base/result.ts'
import type { Database } from '../../../core/database/database.ts'
import { loadRoles, type RolesProject } from '../../../core/explain/roles-project.ts'
import { type Path, printDiagnostic, type SourceLocation } from '../../../core/faults/diagnostic.ts'
import type { SchemaChange, SchemaSource } from '../../../core/graphql/compare-schemas.ts'
import { describeRemovedRole, refuseAssignedRoles } from '../../../core/identity/sync-declared-rows.ts'
import { migrate } from '../../../core/migrate/migrate.ts'
import { type MigrationPlan, planMigration } from '../../../core/migrate/plan-migration.ts'
import { loadMigrations } from '../../../core/plugins/load/load-migrations.ts'
import type { CommandContext } from '../command-options.ts'
import type { Colour } from '../paint.ts'
import { withDatabase } from '../project-database.ts'
import {
  checkOut,
  differenceSentence,
  loadAt,
  locationAtRef,
  type ProjectAtRef,
} from '../roles/roles-diff.ts'
import { compareRoles, type Difference } from '../roles/roles-differences.ts'
import { printLocation } from '../roles/roles-output.ts'
import { type ApiChange, compareApi, declarationPath, type ModulePlace } from './compare-api.ts'
import type { ChangeLevel } from './compare-attributes.ts'
import { type CodeVersion, compareCode, findText, hasCode, linkPackages, loadCode } from './compare-code.ts'

export const REVIEW_FORMATS = ['text', 'markdown', 'json'] as const

export interface ReviewOptions extends CommandContext {
  readonly format: (typeof REVIEW_FORMATS)[number]
  /** Plan against the project's database instead of an empty one of the earlier version: it counts rows. */
  readonly usesDatabase: boolean
}

/** One finding of a review. `location`: the line in the new version, else in the old one; null: it has none. */
interface Finding {
  readonly level: ChangeLevel
  readonly message: string
  readonly location: SourceLocation | null
}

interface Review {
  readonly ref: string
  /** The plan counts the rows of a database; false: it assumes rows in every table. */
  readonly countsRows: boolean
  readonly sections: readonly { readonly title: Title; readonly findings: readonly Finding[] }[]
}

type Title = 'Data' | 'Permissions' | 'REST' | 'GraphQL' | 'Types'

/**
 * `plinth review`: what a change since a commit does to data, permissions and clients. Returns the exit code: 0 if all is
 * safe, 2 if a person should look, 1 for faults of either project, of git or of the database.
 */
export async function runReview(options: ReviewOptions, ref: string): Promise<0 | 1 | 2> {
  const reviewed = await review(options, ref)
  if (!reviewed.ok) {
    options.writeError(`${reviewed.reasons.join('\n\n')}\n`)
    return 1
  }
  options.write(PRINTERS[options.format](reviewed.value, options))
  const findings = reviewed.value.sections.flatMap(section => section.findings)
  return findings.some(({ level }) => level !== 'safe') ? 2 : 0
}

/** The files of a project that are compared: declarations, code and GraphQL documents. */
const CODE = /\.(?:ya?ml|json|graphql|gql|[mc]?[jt]s)$/i

async function review(options: ReviewOptions, ref: string): Promise<Result<Review, string>> {
  const after = await loadRoles(options.folder, options.env)
  if (!after.ok) return failed(...after.reasons.map(printDiagnostic))
  const files = await checkOut(ref, options.folder, CODE)
  if (!files.ok) return files
  try {
    const before = await loadAt(ref, files.value, { ...options, form: 'text' })
    if (!before.ok) return before
    const versions = { before: before.value, after: after.value, files: files.value, ref }
    return await compareVersions(versions, options)
  } finally {
    await files.value.remove()
  }
}

interface Versions {
  readonly before: RolesProject
  readonly after: RolesProject
  readonly files: ProjectAtRef
  readonly ref: string
}

async function compareVersions(versions: Versions, options: ReviewOptions): Promise<Result<Review, string>> {
  const { before, after, ref } = versions
  const plan = await planOf(versions, options)
  if (!plan.ok) return plan
  const code = await loadBoth(versions, options)
  const api = await compareProtocols({ ...before, code: code.before }, { ...after, code: code.after })
  const differences = compareRoles(before, after)
  const roles = options.usesDatabase ? [] : roleFindings(versions)
  return ok({
    ref,
    countsRows: options.usesDatabase,
    sections: [
      { title: 'Data', findings: [...dataFindings(plan.value), ...roles] },
      { title: 'Permissions', findings: differences.map(each => permissionFinding(each, versions)) },
      { title: 'REST', findings: [...code.faults, ...api.rest.map(each => toFinding(each, versions))] },
      { title: 'GraphQL', findings: api.graphql.map(each => toFinding(each, versions)) },
      { title: 'Types', findings: typeFindings(api.rest) },
    ],
  })
}

interface BothCodes {
  readonly before: CodeVersion | null
  readonly after: CodeVersion | null
  /** Why the code is not compared. */
  readonly faults: readonly Finding[]
}

/** Loads the code of both versions, if any of them has some. */
async function loadBoth(
  { before, after, files, ref }: Versions,
  { folder }: ReviewOptions,
): Promise<BothCodes> {
  const roots = [before, after].map(({ project }) => project.root)
  if (!roots.some(hasCode)) return { before: null, after: null, faults: [] }
  await linkPackages(folder, files)
  const [was, now] = [await loadCode(before), await loadCode(after)]
  const fault = (name: string, reasons: readonly string[]): Finding => ({
    level: 'risky',
    message: `the code of ${name} cannot be loaded, so that neither its routes nor its part of GraphQL are compared: ${reasons.join('; ')}`,
    location: null,
  })
  return {
    before: was.ok && now.ok ? was.value : null,
    after: was.ok && now.ok ? now.value : null,
    faults: [
      ...(was.ok ? [] : [fault(ref, was.reasons)]),
      ...(now.ok ? [] : [fault('this version', now.reasons)]),
    ],
  }
}

/** The plan for a database with the tables of the earlier version; with `usesDatabase` for the project's own. */
async function planOf(
  { before, after }: Versions,
  options: ReviewOptions,
): Promise<Result<MigrationPlan, string>> {
  const { tables } = after.storage
  if (options.usesDatabase) {
    const files = await loadMigrations(after.project.root)
    if (!files.ok) return failed(...files.reasons.map(printDiagnostic))
    const checkRows = refuseAssignedRoles(after.project.settings.roles, after)
    const plan = (database: Database) => planMigration(database, tables, { files: files.value, checkRows })
    return withDatabase(after.project, plan, options)
  }
  const { settings } = before.project
  const inMemory = { ...settings, database: { ...settings.database, url: 'embedded', replicas: [] } }
  const opened = await openProjectDatabase(
    { ...before.project, settings: inMemory },
    { observe: () => undefined, embedded: { dataDir: 'memory://' } },
  )
  if (!opened.ok) return failed(...opened.reasons.map(printReason))
  const database = opened.value
  try {
    const made = await migrate(database, before.storage.tables, {
      others: { deployment: null, mayOutdate: false },
    })
    if (!made.ok) return failed(...made.reasons.map(({ message }) => message))
    return ok(await planMigration(database, tables, { assumesRows: true }))
  } finally {
    await database.close()
  }
}

const LEVELS = { safe: 'safe', slow: 'risky', destructive: 'breaking' } as const

const finding = (level: ChangeLevel, message: string): Finding => ({ level, message, location: null })

function dataFindings({ steps, refusals, left, possible }: MigrationPlan): readonly Finding[] {
  return [
    ...refusals.map(({ message }) => finding('breaking', `refused: ${message}`)),
    ...steps.map(({ weight, window, summary, notes }) =>
      finding(
        window === 'stop' && weight === 'safe' ? 'risky' : LEVELS[weight],
        `${[summary, ...notes].join(': ')} (${weight}, ${window})`,
      ),
    ),
    ...(possible ?? []).map(({ message }) => finding('risky', `if there are such rows: ${message}`)),
    ...left.map(each =>
      finding(
        'breaking',
        possible === undefined
          ? describeLeftover(each)
          : `${each.column === null ? `table ${each.table}` : `column ${each.table}.${each.column}`} is no longer in the project: a start is refused while it has values, and \`plinth migrate --allow-destructive\` loses them`,
      ),
    ),
  ]
}

/** Removed roles, which users may have. */
function roleFindings({ before, after }: Versions): readonly Finding[] {
  const { roles } = after.project.settings
  const removed = Object.keys(before.project.settings.roles).filter(role => !Object.hasOwn(roles, role))
  return removed.map(role => finding('risky', `if users have it: ${describeRemovedRole(role)}`))
}

function permissionFinding(difference: Difference, versions: Versions): Finding {
  const location = placeOf(difference, versions)
  return { level: PERMISSION_LEVELS[difference.effect], message: differenceSentence(difference), location }
}

/** What is granted has to be meant; what is taken away may break a client. */
const PERMISSION_LEVELS = { grants: 'risky', 'may-grant': 'risky', takes: 'risky' } as const

const toFinding = (change: ApiChange, versions: Versions): Finding => ({
  level: change.level,
  message: change.message,
  location: placeOf(change, versions),
})

function placeOf(
  { now, was, module }: Pick<ApiChange, 'now' | 'was' | 'module'>,
  { after, before, files, ref }: Versions,
): SourceLocation | null {
  if (module) {
    const location = { file: module.file, line: module.line, column: 1, source: '' }
    return module.version === 'now' ? location : locationAtRef(ref, files, location)
  }
  if (now) return after.project.keyLocation(now)
  return was && locationAtRef(ref, files, before.project.keyLocation(was))
}

/** Generated files that no longer fit. */
const typeFindings = (rest: readonly ApiChange[]): readonly Finding[] =>
  rest.some(({ now, was }) => now !== null || was !== null)
    ? [
        {
          level: 'safe',
          message: 'generated types are out of date: run `plinth types` and `plinth client`',
          location: null,
        },
      ]
    : []

type Print = (review: Review, options: ReviewOptions) => string

const PRINTERS: Readonly<Record<ReviewOptions['format'], Print>> = {
  text: printText,
  markdown: printMarkdown,
  json: ({ ref, countsRows, sections }) =>
    `${JSON.stringify({
      since: ref,
      rows: countsRows ? 'counted' : 'assumed',
      ...Object.fromEntries(
        sections.map(({ title, findings }) => [title.toLowerCase(), findings.map(toJson)]),
      ),
    })}\n`,
}

const toJson = ({ level, message, location }: Finding) => ({
  level,
  message,
  location: location && { file: location.file, line: location.line, column: location.column },
})

/** How the findings of a section came about; null: nothing to add. */
const remarkOn = (title: Title, { countsRows, ref }: Review): string | null =>
  title === 'Data' && !countsRows
    ? `Without a database: the plan is for the tables of ${ref} and assumes rows in each of them. \`--database <url>\` counts rows.`
    : null

const ORDER: readonly ChangeLevel[] = ['breaking', 'risky', 'safe']
const COLOURS: Readonly<Record<ChangeLevel, Colour>> = { breaking: 'red', risky: 'yellow', safe: 'green' }

const sorted = (findings: readonly Finding[]): readonly Finding[] =>
  findings.toSorted((one, other) => ORDER.indexOf(one.level) - ORDER.indexOf(other.level))

function verdict({ ref, sections }: Review): string {
  const findings = sections.flatMap(section => section.findings)
  if (findings.length === 0) return `Since ${ref}, nothing has changed for data, permissions and clients.`
  const counts = ORDER.map(level => `${findings.filter(each => each.level === level).length} ${level}`)
  return `Since ${ref}: ${counts.join(', ')}.`
}

const lines = (text: string | null, print: (text: string) => string): readonly string[] =>
  text === null ? [] : [print(text)]

function printText(reviewed: Review, { paint }: ReviewOptions): string {
  const parts = reviewed.sections.flatMap(({ title, findings }) =>
    findings.length === 0
      ? []
      : [
          '',
          paint('bold', title),
          ...lines(remarkOn(title, reviewed), text => `  ${paint('dim', text)}`),
          ...sorted(findings).map(({ level, message, location }) => {
            const where = location ? `  ${paint('dim', printLocation(location))}` : ''
            return `  ${paint(COLOURS[level], level.padEnd(8))}  ${message}${where}`
          }),
        ],
  )
  return `${[verdict(reviewed), ...parts].join('\n')}\n`
}

const SIGNS: Readonly<Record<ChangeLevel, string>> = { breaking: '🔴', risky: '🟡', safe: '🟢' }

function printMarkdown(reviewed: Review): string {
  const parts = reviewed.sections.flatMap(({ title, findings }) =>
    findings.length === 0
      ? []
      : [
          '',
          `### ${title}`,
          '',
          ...lines(remarkOn(title, reviewed), text => `${text}\n`),
          ...sorted(findings).map(({ level, message, location }) => {
            const where = location ? ` (\`${printLocation(location)}\`)` : ''
            return `- ${SIGNS[level]} **${level}**: ${message.replaceAll('\n', ' ')}${where}`
          }),
        ],
  )
  return `${[`## Plinth review`, '', verdict(reviewed), ...parts].join('\n')}\n`
}

interface ApiVersion {
  readonly project: Pick<RolesProject['project'], 'settings'>
  readonly model: RolesProject['model']
  /** Absent or null: there is none, or it is not compared. */
  readonly code?: CodeVersion | null
}

interface ProtocolChanges {
  readonly rest: readonly ApiChange[]
  readonly graphql: readonly ApiChange[]
}

/** What clients of each protocol notice. GraphQL's changes are those of its schemas, and of the rules of both protocols. */
export async function compareProtocols(before: ApiVersion, after: ApiVersion): Promise<ProtocolChanges> {
  const { compareSchemas } = await import('../../../core/graphql/compare-schemas.ts')
  const version = ({ model, project: { settings } }: ApiVersion) => ({ model, settings })
  const code = before.code && after.code ? compareCode(before.code, after.code) : []
  const changes = [...compareApi(version(before), version(after)), ...code]
  const schemas = compareSchemas(schemaVersion(before), schemaVersion(after))
  const isServed = before.project.settings.graphql.enabled
  return {
    rest: changes.filter(({ scope }) => scope !== 'graphql'),
    graphql: [
      ...schemas.map(change => toApiChange(change, { changes, before, after })),
      ...changes.filter(({ scope }) => isServed && scope !== 'rest'),
    ],
  }
}

const schemaVersion = ({ model, project: { settings }, code }: ApiVersion) => ({
  ...{ model, settings: settings.graphql },
  ...(code && { schemas: code.app.schemas, shadow: code.app.graphql.shadow }),
})

interface SchemaOptions {
  /** A renamed declaration is found by the change of its name. */
  readonly changes: readonly ApiChange[]
  readonly before: ApiVersion
  readonly after: ApiVersion
}

function toApiChange(
  { endpoint, level, message, was, now }: SchemaChange,
  { changes, before, after }: SchemaOptions,
): ApiChange {
  const old = was && sourcePath(was)
  // Without the attribute, its type is all that the new version has of it.
  const isGone = old !== null && now !== null && old.length > (sourcePath(now)?.length ?? 0)
  const renamed = old && changes.find(change => isDeepStrictEqual(change.was, old) && change.now)
  const module = modulePlace(now, after.code, 'now') ?? modulePlace(was, before.code, 'was')
  return {
    ...{ level, scope: 'graphql', message: `${endpoint}: ${message}` },
    ...{ was: old, now: now && !isGone ? sourcePath(now) : (renamed?.now ?? null) },
    ...(module && { module }),
  }
}

/** null: the project declares nothing there, as for roles. */
function sourcePath(source: SchemaSource): Path | null {
  if ('extension' in source) return null
  const { holder, attribute } = source
  if (holder.holder === 'content-type' && holder.builtIn && holder.key !== 'user') return null
  return attribute === null ? declarationPath(holder) : [...declarationPath(holder), 'attributes', attribute]
}

function modulePlace(
  source: SchemaSource | null,
  code: CodeVersion | null | undefined,
  version: ModulePlace['version'],
): ModulePlace | null {
  if (!source || !('extension' in source) || !code) return null
  return { ...findText(code, source.extension, source.name), version }
}
