import { CONTENT_ACTIONS, isBuiltInSubject } from '../../../core/access/actions.ts'
import type { Explanation } from '../../../core/access/explain/explain.ts'
import { toQuestion } from '../../../core/explain/answer.ts'
import { type MatrixFilter, type MatrixPart, type MatrixRow, toMatrix } from '../../../core/explain/matrix.ts'
import { explanationJson, printMatrixJson } from '../../../core/explain/report.ts'
import { loadRoles, type RolesProject } from '../../../core/explain/roles-project.ts'
import { doorOf, openingFor, openingsOf } from '../../../core/explain/route-overrides.ts'
import { type Diagnostic, fromWorkingDirectory, printDiagnostic } from '../../../core/faults/diagnostic.ts'
import type { Project } from '../../../core/project/project.ts'
import type { Paint } from '../paint.ts'
import { flowYaml, lineNumbers, printLocation, type RolesContext, WIDTH, wrap } from './roles-output.ts'

/** `plinth roles`: who may do what. Answers the exit code: 0, 1 for faults of the project, 2 for unknown words. */
export async function runRoles(options: RolesContext, narrowing: MatrixFilter): Promise<0 | 1 | 2> {
  const loaded = await loadRoles(options.folder, options.env)
  if (!loaded.ok) return complainOf(loaded.reasons, options)
  const matrix = toMatrix(loaded.value, narrowing)
  if (!matrix.ok) {
    options.writeError(`${matrix.reasons.join('\n')}\n`)
    return 2
  }
  options.write(print(matrix.value, loaded.value, options))
  return 0
}

/**
 * `plinth roles who`: the roles and API tokens that may do something, each with its line and restrictions. Returns the
 * exit code: 0, 1 for faults of the project, 2 for unknown words.
 */
export async function runWho(
  options: RolesContext,
  words: { readonly action: string; readonly type: string },
): Promise<0 | 1 | 2> {
  const loaded = await loadRoles(options.folder, options.env)
  if (!loaded.ok) return complainOf(loaded.reasons, options)
  const { explainer, project } = loaded.value
  const question = toQuestion({ ...words, field: undefined }, loaded.value)
  if (!question.ok) {
    options.writeError(`${question.reasons.join('\n')}\n`)
    return 2
  }
  const { subject, action } = question.value
  const found = explainer.holders
    .map(holder => explainer.explain(holder, subject, action))
    .filter(({ allowed }) => allowed)
  const entries = found.map(each => ({ ...each.holder, ...explanationJson(each, project) }))
  const opening = openingFor(subject.name, action, project)
  if (options.form === 'json')
    options.write(`${JSON.stringify({ subject: subject.name, action, holders: entries })}\n`)
  else options.write(printHolders(found, { project, words, door: opening && doorOf(opening) }))
  return 0
}

interface HolderOptions {
  readonly project: Project
  readonly words: { readonly action: string; readonly type: string }
  /** The `auth` of the route, which counts instead of roles. */
  readonly door: string | null
}

function printHolders(found: readonly Explanation[], { project, words, door }: HolderOptions): string {
  const rows = found.map(({ holder, path, options: { where, fields, set }, through }) => [
    `${holder.kind} ${holder.key}`,
    printLocation(project.keyLocation(path)),
    [
      ...(through.length > 1 ? [`inherited from ${through.at(-1)}`] : []),
      ...Object.entries({ where, fields, set }).flatMap(([key, value]) =>
        value === undefined ? [] : [`${key} ${flowYaml(value)}`],
      ),
    ].join('; '),
  ])
  const width = (column: number) => Math.max(0, ...rows.map(row => row[column]?.length ?? 0))
  const lines = rows.map(([name = '', place = '', rest = '']) =>
    `${name.padEnd(width(0))}  ${place.padEnd(width(1))}  ${rest}`.trimEnd(),
  )
  const none = `No role and no API token may ${words.action} ${words.type}.`
  const overREST = door === null ? [] : [`Over REST, whatever roles say: ${door}.`]
  return `${[...(lines.length > 0 ? lines : [none]), ...overREST].join('\n')}\n`
}

/** Reports the faults of a project. */
export function complainOf(faults: readonly Diagnostic[], { writeError, folder }: RolesContext): 1 {
  writeError(`${faults.map(fromWorkingDirectory(folder)).map(printDiagnostic).join('\n\n')}\n`)
  return 1
}

function print(
  parts: readonly MatrixPart[],
  { project }: RolesProject,
  { form, paint }: RolesContext,
): string {
  switch (form) {
    case 'json':
      return printMatrixJson(parts, project)
    case 'text':
      return printMatrix(parts, { project, paint })
  }
}

/** The limits of a grant: W for `where`, F for `fields`, S for `set`. */
const lettersOf = ({ options }: Explanation): string =>
  `${options.where ? 'W' : ''}${options.fields ? 'F' : ''}${options.set ? 'S' : ''}`

/** `all`, letters, or `-`; in brackets if another action implies it. */
function cellMark(cell: Explanation): string {
  if (!cell.allowed) return '-'
  const mark = lettersOf(cell) || 'all'
  return cell.why.kind === 'implied' ? `(${mark})` : mark
}

/** Nothing is granted, and no line denies anything. */
const hasNoRules = ({ cells }: MatrixRow): boolean => cells.every(({ why }) => why.kind === 'undeclared')

interface MatrixTextOptions {
  readonly project: Project
  readonly paint: Paint
}

/** Shorter headings for long action names. */
const HEADINGS: Readonly<Record<string, string>> = { readDrafts: 'drafts', createLocalization: 'locale' }

const LEGEND = 'all: whole. W: where, F: fields, S: set. (…): another action implies it. -: no.'

/** A table for each role, no wider than WIDTH. */
function printMatrix(parts: readonly MatrixPart[], { project, paint }: MatrixTextOptions): string {
  const files = new Map<string, string>()
  const options = { project, paint, fileMark: (file: string) => markFor(file, files) }
  const tables = parts.map(part => printPart(part, options))
  const openings = printOpenings(project).flatMap(line => wrap(line.split(' '), WIDTH))
  const legend = [...openings, LEGEND, ...Array.from(files, ([file, mark]) => `${mark}: ${file}`)]
  return `${[...tables, paint('dim', legend.join('\n'))].join('\n\n')}\n`
}

/** Abbreviates the paths of included files, which are too long for a column. A legend follows the tables. */
function markFor(file: string, files: Map<string, string>): string {
  const mark = files.get(file) ?? `f${files.size + 1}`
  files.set(file, mark)
  return mark
}

interface Options extends MatrixTextOptions {
  readonly fileMark: (file: string) => string
}

function printPart(part: MatrixPart, options: Options): string {
  const withRules = part.rows.filter(row => !hasNoRules(row))
  const withoutRules = part.rows.filter(hasNoRules).map(({ subject }) => subject.name)
  const layout = layoutOf(part.rows)
  const nothing = wrap(withoutRules, WIDTH - NO_ACCESS.length, ',').map((line, index) =>
    options.paint('dim', (index === 0 ? NO_ACCESS : ' '.repeat(NO_ACCESS.length)) + line),
  )
  const table =
    withRules.length === 0
      ? []
      : [heading(layout, options), ...withRules.flatMap(row => printRow(row, layout, options))]
  return [title(part, options), ...table, ...nothing].join('\n')
}

const NO_ACCESS = 'nothing on: '

function title({ holder }: MatrixPart, { project, paint }: MatrixTextOptions): string {
  const section = holder.kind === 'role' ? 'roles' : 'apiTokens'
  const { extends: parents = [] } = holder.kind === 'role' ? (project.settings.roles[holder.key] ?? {}) : {}
  const extending = parents.length > 0 ? `, extends ${parents.join(', ')}` : ''
  const place = printLocation(project.keyLocation([section, holder.key]))
  return `${paint('bold', `${holder.kind} ${holder.key}`)}${extending}  ${paint('dim', place)}`
}

interface Layout {
  /** The width of the first column. */
  readonly subject: number
  readonly actions: readonly string[]
}

const LONGEST_SUBJECT = 28

/** Columns only for actions that some type of the table has. */
function layoutOf(rows: readonly MatrixRow[]): Layout {
  const types = rows.filter(isTable)
  return {
    subject: Math.min(LONGEST_SUBJECT, Math.max(4, ...rows.map(({ subject }) => subject.name.length))),
    actions: CONTENT_ACTIONS.filter(action => types.some(({ subject }) => subject.actions.includes(action))),
  }
}

/** Built-in subjects have their own actions, which are printed as a list. */
const isTable = ({ subject }: MatrixRow): boolean => !isBuiltInSubject(subject.name)

const headingOf = (action: string): string => HEADINGS[action] ?? action

const columnOf = (action: string): number => Math.max(5, headingOf(action).length)

const middleOf = ({ actions }: Layout): number =>
  Math.max(
    40,
    actions.reduce((width, action) => width + columnOf(action) + 1, -1),
  )

function heading(layout: Layout, { paint }: MatrixTextOptions): string {
  const names = layout.actions.map(action => headingOf(action).padEnd(columnOf(action))).join(' ')
  return paint('dim', `${'type'.padEnd(layout.subject)} ${names.padEnd(middleOf(layout))} line`)
}

function printRow(row: MatrixRow, layout: Layout, { project, paint, fileMark }: Options): readonly string[] {
  const middle = isTable(row) ? [cellsOf(row, layout, paint)] : listOf(row, layout, paint)
  const width = WIDTH - layout.subject - middleOf(layout) - 2
  const withRules = row.cells.filter(({ why }) => why.kind !== 'undeclared')
  const paths = withRules.map(({ path }) => path)
  const lines = wrap(lineNumbers(paths, project, fileMark), width, ',')
  const name = shorten(row.subject.name, layout.subject).padEnd(layout.subject)
  return Array.from({ length: Math.max(middle.length, lines.length) }, (_, index) => {
    const part = middle[index] ?? ' '.repeat(middleOf(layout))
    return `${index === 0 ? name : ' '.repeat(layout.subject)} ${part} ${paint('dim', lines[index] ?? '')}`.trimEnd()
  })
}

const shorten = (name: string, width: number): string =>
  name.length > width ? `${name.slice(0, width - 1)}…` : name

function cellsOf({ cells }: MatrixRow, layout: Layout, paint: Paint): string {
  const byAction = new Map(cells.map(cell => [cell.action as string, cell]))
  const texts = layout.actions.map(action => paintCell(byAction.get(action), columnOf(action), paint))
  const width = layout.actions.reduce((sum, action) => sum + columnOf(action) + 1, -1)
  return texts.join(' ') + ' '.repeat(middleOf(layout) - width)
}

function paintCell(cell: Explanation | undefined, width: number, paint: Paint): string {
  if (!cell) return ' '.repeat(width)
  const mark = cellMark(cell)
  const colour = cell.allowed ? (mark.includes('all') ? 'green' : 'yellow') : 'dim'
  return paint(colour, mark) + ' '.repeat(width - mark.length)
}

function listOf({ cells }: MatrixRow, layout: Layout, paint: Paint): readonly string[] {
  const granted = cells.filter(({ allowed }) => allowed)
  const words = granted.map(cell =>
    cellMark(cell) === 'all' ? cell.action : `${cell.action} ${cellMark(cell)}`,
  )
  const lines = wrap(words.length > 0 ? words : ['-'], middleOf(layout), ',')
  return lines.map(
    line => paint(words.length > 0 ? 'green' : 'dim', line) + ' '.repeat(middleOf(layout) - line.length),
  )
}

/** The overrides of roles, one line each. */
const printOpenings = (project: Project): readonly string[] =>
  openingsOf(project).flatMap(opening => {
    const door = doorOf(opening)
    const place = printLocation(project.keyLocation(opening.path))
    return door === null ? [] : [`${opening.kind} ${opening.key}, whatever roles say: ${door} (${place})`]
  })
