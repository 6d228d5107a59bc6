import type { SchemaShape } from '../model/storage.ts'
import { type Naming, namesAfter, namesBefore } from './reshape/component-links.ts'
import {
  largeShift,
  linkLosses,
  misledLinks,
  partLosses,
  valueLosses,
  versionLosses,
} from './reshape/data-losses.ts'
import { findShift } from './reshape/find-reshapes.ts'
import { goneParts } from './reshape/removed-objects.ts'
import type { LinkMove, Shift } from './reshape/reshape.ts'
import { printFindParts, printShiftParts } from './reshape/reshape-components.ts'
import { versionWords } from './reshape/reshape-descriptions.ts'
import { printKeepLinks, printWriteLinks } from './reshape/reshape-links.ts'
import { shiftPair } from './reshape/reshape-pair.ts'
import { newlyShared, printShareValues, printShiftVersions } from './reshape/reshape-versions.ts'
import type { Catalogue } from './schema/catalogue.ts'
import { type Finding, step } from './schema/finding.ts'
import type { Pair } from './schema/pair-tables.ts'

/** What a plan does with rows that come to mean something else: drafts, locales, links and components that change their kind. */
export interface ShiftPlan {
  /** The pairs, with what becomes of their rows. */
  readonly pairs: readonly Pair[]
  readonly findings: readonly Finding[]
  /** Tables that nobody wants any more, but for what is carried over from them. */
  readonly moved: ReadonlySet<string>
}

export function planShift(all: readonly Pair[], { schema, made }: Catalogue): ShiftPlan {
  const shift = findShift(all)
  const paired = new Map(all.map(pair => [pair.actual.name, pair.desired.name]))
  const before = [...made.values()].flatMap(({ shape }) => (shape === null ? [] : [shape]))
  const sources = shift.links.flatMap(({ source: { link } }) =>
    link.link.kind === 'table' ? [link.link.table] : [],
  )
  return {
    pairs: all.map(pair => shiftPair(pair, shift)),
    findings: [...shiftRows(shift, { schema, paired, before })],
    moved: new Set(sources.filter(table => !paired.has(table))),
  }
}

interface ShiftTerms {
  readonly schema: string
  /** Tables: old name → new. */
  readonly paired: ReadonlyMap<string, string>
  /** What all tables meant that are there. */
  readonly before: readonly SchemaShape[]
}

/** Links stand aside while the rows at their ends change. */
function* shiftRows(shift: Shift, { schema, paired, before }: ShiftTerms): Generator<Finding> {
  const naming = namesAfter(schema, paired)
  yield* goneParts(shift, { schema, naming, before })
  for (const misled of shift.misled) yield* misledLinks(misled, naming)
  const moves = shift.links.map((move, turn) => ({ move, terms: { schema, naming, turn } }))
  if (needsParts(shift))
    yield step('shift', 'find out whose each component is', printFindParts(shift, naming))
  for (const { move, terms } of moves)
    yield step('shift', `set the links of ${linkWords(move)} aside`, ...printKeepLinks(move, terms))
  yield* shareValues(shift)
  const parts = printShiftParts(shift, naming)
  if (parts.length > 0) {
    const done = step('shift', 'bring components in line with their documents', ...parts)
    yield done
    yield* partLosses(shift, namesBefore(schema), done)
  }
  yield* shiftVersions(shift)
  for (const { move, terms } of moves) {
    const done = step('shift', `store the links of ${linkWords(move)}`, ...printWriteLinks(move, terms))
    yield done
    yield* linkLosses(move, namesBefore(schema), done)
    yield largeShift(placeOf(move, namesBefore(schema)), move.owner.pair, done)
  }
}

const needsParts = ({ components, links }: Shift): boolean =>
  components.size > 0 || links.some(({ owner }) => owner.after.holder === 'component')

/** The table that links are stored in. */
const placeOf = ({ source: { holding, link } }: LinkMove, naming: Naming): string =>
  link.link.kind === 'table' ? naming.linkTable(link.link.table) : naming.table(holding)

const linkWords = ({ owner, link }: LinkMove): string => `\`${link.name}\` of ${owner.pair.desired.serves}`

function* shareValues({ holdings }: Shift): Generator<Finding> {
  for (const holding of holdings) {
    const values = newlyShared(holding)
    if (values.length === 0) continue
    const names = values.map(value => `\`${value.name}\``).join(', ')
    const words = `let all locales of ${holding.pair.desired.serves} share ${names}`
    const done = step('shift', words, printShareValues(holding, values))
    yield done
    yield valueLosses(holding, values, done)
  }
}

function* shiftVersions({ versions }: Shift): Generator<Finding> {
  for (const holding of versions) {
    const done = step('shift', versionWords(holding), ...printShiftVersions(holding))
    yield done
    yield* versionLosses(holding, done)
    yield largeShift(namesBefore(holding.pair.schema).table(holding), holding.pair, done)
  }
}
