import type { SchemaShape } from '../model/storage.ts'
import { type Naming, namesAfter, namesBefore } from './reshape/component-links.ts'
import {
  largeReshape,
  linkLosses,
  partLosses,
  refuseRetargetedLinks,
  valueLosses,
  versionLosses,
} from './reshape/data-losses.ts'
import { findReshape } from './reshape/find-reshapes.ts'
import { goneParts } from './reshape/removed-objects.ts'
import type { LinkMove, Reshape } from './reshape/reshape.ts'
import { printFindComponents, printReshapeComponents, reshapePair } from './reshape/reshape-components.ts'
import { printKeepLinks, printWriteLinks } from './reshape/reshape-links.ts'
import {
  newlyShared,
  printReshapeVersions,
  printShareValues,
  versionWords,
} from './reshape/reshape-versions.ts'
import type { Catalogue } from './schema/catalogue.ts'
import { type SchemaFinding, step } from './schema/finding.ts'
import type { TablePair } from './schema/pair-tables.ts'

/** The conversion of rows whose meaning changes: drafts, locales, links and components that change their kind. */
export interface ReshapePlan {
  /** The paired tables, with the conversion of their rows. */
  readonly pairs: readonly TablePair[]
  readonly findings: readonly SchemaFinding[]
  /** Tables that are no longer declared, without those whose rows are carried over. */
  readonly moved: ReadonlySet<string>
}

export function planReshape(all: readonly TablePair[], { schema, made }: Catalogue): ReshapePlan {
  const shift = findReshape(all)
  const paired = new Map(all.map(pair => [pair.actual.name, pair.desired.name]))
  const before = [...made.values()].flatMap(({ shape }) => (shape === null ? [] : [shape]))
  const sources = shift.links.flatMap(({ source: { link } }) =>
    link.link.kind === 'table' ? [link.link.table] : [],
  )
  return {
    pairs: all.map(pair => reshapePair(pair, shift)),
    findings: [...shiftRows(shift, { schema, paired, before })],
    moved: new Set(sources.filter(table => !paired.has(table))),
  }
}

interface ShiftTerms {
  readonly schema: string
  /** New table names by old ones. */
  readonly paired: ReadonlyMap<string, string>
  /** The recorded roles of all existing tables. */
  readonly before: readonly SchemaShape[]
}

/** Links are set aside while the rows at their ends change. */
function* shiftRows(shift: Reshape, { schema, paired, before }: ShiftTerms): Generator<SchemaFinding> {
  const naming = namesAfter(schema, paired)
  yield* goneParts(shift, { schema, naming, before })
  for (const retargeted of shift.retargeted) yield* refuseRetargetedLinks(retargeted, naming)
  const moves = shift.links.map((move, turn) => ({ move, terms: { schema, naming, turn } }))
  if (needsParts(shift))
    yield step('shift', 'find out whose each component is', printFindComponents(shift, naming))
  for (const { move, terms } of moves)
    yield step('shift', `set the links of ${linkWords(move)} aside`, ...printKeepLinks(move, terms))
  yield* shareValues(shift)
  const parts = printReshapeComponents(shift, naming)
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
    yield largeReshape(placeOf(move, namesBefore(schema)), move.owner.pair, done)
  }
}

const needsParts = ({ components, links }: Reshape): boolean =>
  components.size > 0 || links.some(({ owner }) => owner.after.holder === 'component')

/** The table that stores the links. */
const placeOf = ({ source: { holding, link } }: LinkMove, naming: Naming): string =>
  link.link.kind === 'table' ? naming.linkTable(link.link.table) : naming.table(holding)

const linkWords = ({ owner, link }: LinkMove): string => `\`${link.name}\` of ${owner.pair.desired.serves}`

function* shareValues({ holdings }: Reshape): Generator<SchemaFinding> {
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

function* shiftVersions({ versions }: Reshape): Generator<SchemaFinding> {
  for (const holding of versions) {
    const done = step('shift', versionWords(holding), ...printReshapeVersions(holding))
    yield done
    yield* versionLosses(holding, done)
    yield largeReshape(namesBefore(holding.pair.schema).table(holding), holding.pair, done)
  }
}
