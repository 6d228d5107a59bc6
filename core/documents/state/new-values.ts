import { memoize } from '../../base/memo.ts'
import { RequestFault } from '../../faults/fault.ts'
import type { Attribute, ContentType, Holder } from '../../model/model.ts'
import type { DesiredComponent, DesiredValue, Values } from '../desired-state.ts'
import { type ChangeOptions, changeLinks } from '../links/link-change.ts'
import { type FoundTargets, findTargets, type TargetOptions } from '../links/link-targets.ts'
import { isShared } from '../rows/planning.ts'
import { type CurrentComponent, componentIdentity } from '../rows/write-load.ts'
import { defaultsOf, type GivenBody } from '../values/given-body.ts'
import { foreignComponent } from '../values/value-fault.ts'
import { inverseEdits, ownEdits } from './list-edits.ts'
import { attributesToLoad, type SaveCommand, type Saving, type VersionContext } from './version-context.ts'
import { componentsIn, itemOf, valuesOf } from './version-values.ts'

/** The values that a version gets from a save. */
export interface NewValues {
  /** For validation: passwords as given. */
  readonly checked: Values
  /** For the database: passwords as hashes. */
  readonly stored: Values
}

/** Applies the changes of the body to the stored values. Rejects with a RequestFault if a link target or component does not exist. */
export async function newValuesOf(saving: Saving, context: VersionContext): Promise<NewValues> {
  const { command, body } = saving
  const { type, locale } = command
  const before = valuesBefore(saving, context)
  const source = { type, locale, reportsCount: command.strict !== undefined }
  const input = valuesToResolve(body)
  const found = await saving.targets
  const [inverse, own] = await Promise.all([
    inverseEdits(saving, context, { source, found }),
    ownEdits(saving, context, { source, found }),
  ])
  const edits = new Map([...inverse, ...own])
  const componentBy = storedComponents(type, context)
  const merge = (values: Values) =>
    mergeValues(type, before, values, {
      edits,
      source,
      found,
      componentBy,
    })
  const checked = merge(input)
  if (body.faults.length > 0) return { checked, stored: input }
  return { checked, stored: body.hashed === input ? checked : merge(body.hashed) }
}

/** The components of a document, each attribute indexed once: in the status that is written, or else in another. */
function storedComponents(type: ContentType, { row, sibling, place }: VersionContext): ComponentBy {
  const holding = row ?? sibling
  const found = memoize((attribute: Attribute) => {
    const rows = new Map<string, CurrentComponent>()
    for (const each of holding ? componentsIn(type, holding, attribute, place) : []) {
      const identity = componentIdentity(each.component, each.row.get('id'))
      if (!rows.has(identity) || each.row.get('status') === place.status) rows.set(identity, each)
    }
    return rows
  })
  return (attribute, { component, id }) => {
    const match = found(attribute).get(componentIdentity(component, id))
    return match && itemOf(match, place)
  }
}

/** Finds the targets of a body's links. */
export const findSavedTargets = (
  { type, locale, strict }: SaveCommand,
  body: GivenBody,
  options: TargetOptions,
): Promise<FoundTargets> =>
  findTargets(type, valuesToResolve(body), { type, locale, reportsCount: strict !== undefined }, options)

/** The values whose links have to be resolved: those of a refused body need not. */
const valuesToResolve = ({ values, faults }: GivenBody): Values =>
  faults.length > 0 ? withoutLinks(values) : values

const withoutLinks = (values: Values): Values =>
  new Map([...values].filter(([, { kind }]) => kind === 'scalar'))

function valuesBefore(saving: Saving, { row, sibling, place }: VersionContext): Values {
  const { command, body } = saving
  const { type } = command
  const defaults = defaultsOf(type)
  if (!row && !sibling) return defaults
  const { attributes, dependent } = attributesToLoad(command, body)
  const loaded = [...attributes, ...dependent(row ? [row] : [])]
  if (row) return valuesOf(type, row, loaded, place)
  const isOfAll = (name: string) => isShared(type, type.attributes.get(name))
  const shared = sibling
    ? valuesOf(
        type,
        sibling,
        loaded.filter(each => isShared(type, each)),
        place,
      )
    : []
  return new Map([...[...defaults].filter(([name]) => !isOfAll(name)), ...shared])
}

interface MergeOptions extends ChangeOptions {
  /** The lists of links that the database edits in place, by attribute; absent inside of components. */
  readonly edits?: ReadonlyMap<string, DesiredValue>
  /** The stored component, of any status, that a body names by id. */
  readonly componentBy: ComponentBy
}

type ComponentBy = (attribute: Attribute, item: DesiredComponent) => DesiredComponent | undefined

/** The stored values, changed by the given ones. Lists of links are edited, and components that the body names by id are merged. */
function mergeValues(holder: Holder, before: Values, input: Values, options: MergeOptions): Values {
  const values = new Map(before)
  for (const [name, value] of options.edits ?? []) values.set(name, value)
  for (const [name, value] of input) {
    const attribute = options.edits?.has(name) ? undefined : holder.attributes.get(name)
    if (attribute) values.set(name, mergeValue(attribute, before.get(name), value, options))
  }
  return values
}

function mergeValue(
  attribute: Attribute,
  before: DesiredValue | undefined,
  input: DesiredValue,
  options: MergeOptions,
): DesiredValue {
  if (input.kind === 'components')
    return { kind: 'components', items: mergeItems(attribute, input.items, options) }
  if (input.kind !== 'links' || !input.change) return input
  if (attribute.kind !== 'relation' && attribute.kind !== 'media') return input
  const current = before?.kind === 'links' ? before.targets : []
  return { kind: 'links', targets: changeLinks(attribute, input.change, current, options) }
}

/** The components of a body, all of them new, with the targets of their links. */
export const newComponents = (type: ContentType, input: Values, options: ChangeOptions): Values =>
  mergeValues(type, NO_VALUES, new Map([...input].filter(([, { kind }]) => kind === 'components')), {
    ...options,
    componentBy: () => undefined,
  })

function mergeItems(
  attribute: Attribute,
  items: readonly DesiredComponent[],
  options: MergeOptions,
): readonly DesiredComponent[] {
  const seen = new Set<string>()
  return items.map(item => {
    const { edits: _, ...within } = options
    if (item.id === null)
      return { ...item, values: mergeValues(item.component, NO_VALUES, item.values, within) }
    const stored = options.componentBy(attribute, item)
    const identity = componentIdentity(item.component, item.id)
    if (!stored || seen.has(identity)) throw new RequestFault(foreignComponent(attribute))
    seen.add(identity)
    const nested: MergeOptions = { ...within, componentBy: nestedIn(stored) }
    return { ...item, values: mergeValues(item.component, stored.values, item.values, nested) }
  })
}

const NO_VALUES: Values = new Map()

function nestedIn({ values }: DesiredComponent): ComponentBy {
  const found = memoize((attribute: Attribute) => {
    const value = values.get(attribute.name)
    const items = value?.kind === 'components' ? value.items : []
    return new Map(items.map(each => [componentIdentity(each.component, each.id), each]))
  })
  return (attribute, { component, id }) => found(attribute).get(componentIdentity(component, id))
}
