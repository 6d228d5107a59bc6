import type { Values } from '../desired-state.ts'
import { type FoundTargets, findTargets, type TargetTerms } from '../links/link-targets.ts'
import { isShared } from '../rows/write-versions.ts'
import { defaultsOf, type GivenBody } from '../values/given-body.ts'
import { inverseEdits } from './inverse-edits.ts'
import { mergeValues } from './merge-values.ts'
import { ownEdits } from './own-edits.ts'
import { attributesToLoad, type SaveCommand, type Saving, type VersionContext } from './version-context.ts'
import { componentsIn, itemOf, valuesOf } from './version-values.ts'

/** What a version is to hold. */
export interface NewValues {
  /** With passwords as they were given. */
  readonly checked: Values
  readonly stored: Values
}

/** What stands in the version, with what the body changes of it. */
export async function newValuesOf(saving: Saving, standing: VersionContext): Promise<NewValues> {
  const { command, body } = saving
  const { type, locale } = command
  const before = valuesBefore(saving, standing)
  const source = { type, locale, counts: command.strict === true }
  const given = searched(body)
  const found = await saving.targets
  const [inverse, own] = await Promise.all([
    inverseEdits(saving, standing, { source, found }),
    ownEdits(saving, standing, { source, found }),
  ])
  const edits = new Map([...inverse, ...own])
  const row = standing.row ?? standing.sibling
  const merge = (values: Values) =>
    mergeValues(type, before, values, {
      edits,
      source,
      found,
      componentBy: (attribute, { component, id }) => {
        const there = row ? componentsIn(type, row, attribute, standing.place) : []
        const same = there.filter(each => each.component === component && each.row.get('id') === id)
        const best = same.find(each => each.row.get('status') === standing.place.status) ?? same[0]
        return best && itemOf(best, standing.place)
      },
    })
  const checked = merge(given)
  if (body.faults.length > 0) return { checked, stored: given }
  return { checked, stored: body.hashed === given ? checked : merge(body.hashed) }
}

/** What the links of a body name. */
export const findSavedTargets = (
  { type, locale, strict }: SaveCommand,
  body: GivenBody,
  terms: TargetTerms,
): Promise<FoundTargets> =>
  findTargets(type, searched(body), { type, locale, counts: strict === true }, terms)

/** What is refused anyway needs no search for what it links to. */
const searched = ({ values, faults }: GivenBody): Values =>
  faults.length > 0 ? withoutLinks(values) : values

const withoutLinks = (values: Values): Values =>
  new Map([...values].filter(([, { kind }]) => kind === 'scalar'))

function valuesBefore(saving: Saving, { row, sibling, place }: VersionContext): Values {
  const { command, body } = saving
  const { type } = command
  const { attributes, besides } = attributesToLoad(command, body)
  const loaded = [...attributes, ...besides(row ? [row] : [])]
  if (row) return valuesOf(type, row, loaded, place)
  const shared = sibling
    ? valuesOf(
        type,
        sibling,
        loaded.filter(each => isShared(type, each)),
        place,
      )
    : []
  const defaults = defaultsOf(type, each => !sibling || !isShared(type, each))
  return new Map([...defaults, ...shared])
}
