import type { Path, SourceLocation } from '../../../core/faults/diagnostic.ts'
import type { Colour, Paint } from '../paint.ts'
import { type Difference, EFFECTS, type Effect } from './roles-differences.ts'
import { WIDTH, wrap } from './roles-output.ts'
import { placeJson, spotOf } from './roles-places.ts'

/** The differences, and how to find their places. */
export interface DiffTerms {
  /** As it was typed. */
  readonly ref: string
  readonly placeBefore: (path: Path) => SourceLocation
  readonly placeAfter: (path: Path) => SourceLocation
  readonly paint: Paint
}

const MARKS: Readonly<Record<Effect, string>> = { grants: '+', 'may-grant': '?', takes: '-' }
const COLOURS: Readonly<Record<Effect, Colour>> = { grants: 'red', 'may-grant': 'yellow', takes: 'green' }
const VERBS: Readonly<Record<Effect, string>> = {
  grants: 'may now',
  'may-grant': 'may otherwise',
  takes: 'may no longer',
}

/** What is granted first: `+`, then what may grant: `?`, then what is taken away: `-`. */
export function printDiff(differences: readonly Difference[], terms: DiffTerms): string {
  if (differences.length === 0) return `Since ${terms.ref}, nothing that anybody may do has changed.\n`
  const parts = differences.map(each => printDifference(each, terms).join('\n'))
  return `${[summary(differences, terms.ref), ...parts].join('\n\n')}\n`
}

function summary(differences: readonly Difference[], ref: string): string {
  const count = (effect: Effect) => differences.filter(each => each.effect === effect).length
  return `Since ${ref}: granted ${count('grants')} (+), perhaps granted ${count('may-grant')} (?), taken away ${count('takes')} (-).`
}

function printDifference(difference: Difference, terms: DiffTerms): readonly string[] {
  const { effect } = difference
  const [first = '', ...rest] = wrap(sentenceOf(difference).split(' '), WIDTH - 2)
  return [
    terms.paint(COLOURS[effect], `${MARKS[effect]} ${first}`),
    ...rest.map(line => terms.paint(COLOURS[effect], `  ${line}`)),
    ...placesOf(difference, terms).map(([label, place]) => `    ${label} ${shortLine(place)}`),
  ]
}

function sentenceOf({ effect, holder, subject, actions, what }: Difference): string {
  if (subject === '') return `${holder.kind} ${holder.key}: ${what}`
  const limits = what === '' ? '' : `: ${what}`
  return `${holder.kind} ${holder.key} ${VERBS[effect]} ${actions.join(', ')} ${subject}${limits}`
}

type Labelled = readonly [label: 'now' | 'was', place: SourceLocation]

/** The line that decides now, and the one that did; of what is new or gone, the one that there is. */
function placesOf({ was: old, now: here }: Difference, terms: DiffTerms): readonly Labelled[] {
  const now = placeOf(here, terms.placeAfter)
  const was = placeOf(old, terms.placeBefore)
  return [...(now ? [['now', now] as const] : []), ...(was ? [['was', was] as const] : [])]
}

const placeOf = (path: Path | null, place: (path: Path) => SourceLocation): SourceLocation | null =>
  path && place(path)

function shortLine(place: SourceLocation): string {
  const line = `${spotOf(place)} | ${place.source.trim()}`
  return line.length > WIDTH - 8 ? `${line.slice(0, WIDTH - 9)}…` : line
}

const HEADS: Readonly<Record<Effect, string>> = {
  grants: 'Granted',
  'may-grant': 'Perhaps granted',
  takes: 'Taken away',
}

/** For a comment on a change: one table for each effect, what is granted first. */
export function printDiffMarkdown(differences: readonly Difference[], terms: DiffTerms): string {
  const head = `### Permissions since \`${terms.ref}\``
  if (differences.length === 0) return `${head}\n\nNothing that anybody may do has changed.\n`
  const tables = EFFECTS.map(effect => ({ effect, of: differences.filter(each => each.effect === effect) }))
    .filter(({ of }) => of.length > 0)
    .map(({ effect, of }) => printTable(effect, of, terms))
  return `${[head, ...tables].join('\n\n')}\n`
}

function printTable(effect: Effect, differences: readonly Difference[], terms: DiffTerms): string {
  const mark = effect === 'takes' ? HEADS[effect] : `**${HEADS[effect]}**`
  return [
    `${MARKS[effect]} ${mark} (${differences.length})`.replace(/^([+-]) /, '\\$1 '),
    '',
    row(['who', 'action', 'type', 'what', 'line']),
    row(['---', '---', '---', '---', '---']),
    ...differences.map(each => row(cellsOf(each, terms))),
  ].join('\n')
}

function cellsOf(difference: Difference, terms: DiffTerms): readonly string[] {
  const { holder, subject, actions, what } = difference
  const places = placesOf(difference, terms).map(([label, place]) => `${label} ${spotOf(place)}`)
  return [
    `${holder.kind} \`${holder.key}\``,
    actions.join(', '),
    subject && `\`${subject}\``,
    what && `\`${what}\``,
    places.join('<br>'),
  ]
}

const row = (cells: readonly string[]): string =>
  `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`

/** One line: `{ since, differences: [{ effect, kind, key, subject, actions, what, now, was }] }`. */
export function printDiffJson(differences: readonly Difference[], terms: DiffTerms): string {
  const told = differences.map(difference => ({
    effect: difference.effect,
    ...difference.holder,
    subject: difference.subject,
    actions: difference.actions,
    what: difference.what,
    ...Object.fromEntries(placesOf(difference, terms).map(([label, place]) => [label, placeJson(place)])),
  }))
  return `${JSON.stringify({ since: terms.ref, differences: told })}\n`
}
