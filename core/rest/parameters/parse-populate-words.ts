import { failed, ok, type Result } from '../../base/result.ts'
import { type Fault, invalidKey } from '../../faults/fault.ts'
import type { Attribute, Holder, ZoneAttribute } from '../../model/model.ts'
import { holderBehind } from '../../query/parse-place.ts'
import { allRows, populateRows, populateZone, selectionOf } from '../../query/populate-nodes.ts'
import type { Asked, Populate, ZonePopulate } from '../../query/query.ts'
import { POPULATE_DEPTH, tooDeep } from './populate-bounds.ts'
import type { Word, Words } from './populate-words.ts'

/** Where names of a populate are resolved, for faults. */
interface WordPlace {
  /** The dotted way to here; null at the top. */
  readonly path: string | null
  /** The names were written as one text: faults give the whole of it (contract/rest.md 8). */
  readonly literal: boolean
  /** Levels above this one. */
  readonly depth: number
}

type Parsed = Result<readonly Populate[], Fault>

/** Names of a populate → its nodes. */
export function parsePopulateWords(words: Words, holder: Holder, place: WordPlace): Parsed {
  if (words.size > 0 && place.depth >= POPULATE_DEPTH) return failed(tooDeep())
  const populates: Populate[] = []
  for (const [name, word] of words) {
    const attribute = holder.attributes.get(name)
    const parsed = attribute
      ? parseWord(attribute, word, { ...place, path: join(place, name), depth: place.depth + 1 })
      : failed(unknownWord(name, place))
    if (!parsed.ok) return parsed
    populates.push(parsed.value)
  }
  return ok(populates)
}

const join = ({ path }: WordPlace, name: string): string => (path === null ? name : `${path}.${name}`)

const unknownWord = (name: string, place: WordPlace): Fault =>
  invalidKey(name, place.literal ? join(place, name) : place.path, 'populate')

const askedOf = ({ named }: Word): Asked => (named ? 'named' : 'passed')

function parseWord(attribute: Attribute, word: Word, place: WordPlace): Result<Populate, Fault> {
  if (attribute.kind === 'zone') return parseZoneWord(attribute, word, place)
  const behind = holderBehind(attribute)
  if (!behind || attribute.kind === 'scalar')
    return failed(invalidKey(attribute.name, place.path, 'populate'))
  const below = parsePopulateWords(word.below, behind, place)
  return below.ok ? ok(populateRows(attribute, askedOf(word), allRows(behind, below.value))) : below
}

const isMore = (attribute: Attribute | undefined): boolean =>
  attribute !== undefined && attribute.kind !== 'scalar'

/** A name behind a zone is meant for the components that have it; at least one must. Fields are there anyway. */
function parseZoneWord(zone: ZoneAttribute, word: Word, place: WordPlace): Result<Populate, Fault> {
  for (const name of word.below.keys()) {
    const known = zone.components.some(({ attributes }) => attributes.has(name))
    if (!known) return failed(unknownWord(name, place))
  }
  const components: ZonePopulate['components'][number][] = []
  for (const component of zone.components) {
    const own = new Map([...word.below].filter(([name]) => isMore(component.attributes.get(name))))
    const below = parsePopulateWords(own, component, place)
    if (!below.ok) return below
    components.push({ component, selection: selectionOf(component, below.value) })
  }
  return ok(populateZone(zone, askedOf(word), components))
}
