import { CONTENT_ACTIONS, isBuiltInSubject } from '../../../core/access/actions.ts'
import type { Project } from '../../../core/project/project.ts'
import { isUnsaid, type MatrixPart, type MatrixRow, markOf } from './roles-matrix.ts'
import { linesOf, spotOf } from './roles-places.ts'
import { printOpenings } from './roles-routes.ts'

/** A heading and a table for each role, for a page or a comment. */
export const printMatrixMarkdown = (parts: readonly MatrixPart[], project: Project): string =>
  `${[...parts.map(part => printPart(part, project)), ...printOpenings(project), LEGEND].join('\n\n')}\n`

const LEGEND =
  '`all`: every document and attribute. `W`: where, `F`: fields, `S`: set. `(…)`: implied by another action. `-`: no.'

function printPart(part: MatrixPart, project: Project): string {
  const { holder, rows } = part
  const section = holder.kind === 'role' ? 'roles' : 'apiTokens'
  const said = rows.filter(row => !isUnsaid(row))
  const types = said.filter(({ subject }) => !isBuiltInSubject(subject.name))
  const actions = CONTENT_ACTIONS.filter(action =>
    types.some(({ subject }) => subject.actions.includes(action)),
  )
  const table = [
    row(['type', ...actions, 'line']),
    row(['', ...actions, ''].map(() => '---')),
    ...types.map(each => row([`\`${each.subject.name}\``, ...marksOf(each, actions), lines(each, project)])),
  ]
  return [
    `### ${holder.kind} \`${holder.key}\` (${spotOf(project.keyPlace([section, holder.key]))})`,
    ...(types.length > 0 ? [table.join('\n')] : []),
    ...said.filter(({ subject }) => isBuiltInSubject(subject.name)).map(each => listOf(each, project)),
    ...(said.length === 0 ? ['Nothing is granted.'] : []),
  ].join('\n\n')
}

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

function marksOf({ cells }: MatrixRow, actions: readonly string[]): readonly string[] {
  const byAction = new Map(cells.map(cell => [cell.action as string, cell]))
  return actions.map(action => {
    const cell = byAction.get(action)
    return cell ? markOf(cell) : ''
  })
}

const lines = ({ cells }: MatrixRow, project: Project): string =>
  linesOf(
    cells.filter(({ why }) => why.kind !== 'unsaid').map(({ path }) => path),
    project,
  ).join(', ')

function listOf(each: MatrixRow, project: Project): string {
  const granted = each.cells.filter(({ allowed }) => allowed)
  const words = granted.map(cell => (markOf(cell) === 'all' ? cell.action : `${cell.action} ${markOf(cell)}`))
  return `- \`${each.subject.name}\`: ${words.join(', ') || '-'} (line ${lines(each, project)})`
}
