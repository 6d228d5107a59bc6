import { memoize } from '../../base/memo.ts'
import { didYouMean } from '../../base/nearest.ts'
import { addAll } from '../../base/plain-data.ts'
import type { Path } from '../../faults/diagnostic.ts'
import type {
  Attribute,
  Component,
  ComponentAttribute,
  Holder,
  MediaAttribute,
  RelationAttribute,
  ScalarAttribute,
  ZoneAttribute,
} from '../../model/model.ts'
import type { LinkChange } from '../../query/command.ts'
import type { DesiredComponent, DesiredValue, LinkTarget, Values } from '../desired-state.ts'
import { type Body, counts, idOf, isBody, notAnObject } from './parse-item.ts'
import { missing, parseScalar, type Strictness } from './parse-scalar.ts'
import { rule, toFault, type ValueFault, wrongType } from './value-fault.ts'

export interface ParseOptions {
  readonly strictness: Strictness
  /** `make`: absent attributes take their defaults, and required ones are missed; `change`: they stay as they are. */
  readonly purpose: 'make' | 'change'
  /** Faults distinguish a missing value from null, in components too (reference/graphql.md#10-errors); absent: both are reported as null. */
  readonly plainly?: true | undefined
  /** True if a component in a body may name by `id` the component that it changes. */
  readonly componentIds: boolean
  /** Parses the value of a relation or media attribute; files and requests use different forms. */
  readonly links: LinkParser
}

export type LinkParser = (
  attribute: RelationAttribute | MediaAttribute,
  value: unknown,
  path: Path,
) => ParsedLinks

/** undefined: they stay as they are. */
export interface ParsedLinks {
  readonly targets: readonly LinkTarget[] | undefined
  /** Set if the new list is a change of the current one. */
  readonly change?: LinkChange
  readonly faults: readonly ValueFault[]
}

export interface ParsedValues {
  readonly values: Values
  /** Unknown keys first, then in the order of the schema. */
  readonly faults: readonly ValueFault[]
}

/**
 * The attributes of a document or a component, as a body or a file gives them, become stored values, or
 * everything that is wrong with them (reference/rest.md#3-attribute-values, reference/rest.md#13-components-and-zones-in-bodies). `covers` leaves attributes out altogether.
 */
export function parseValues(
  holder: Holder,
  body: Body,
  options: ParseOptions,
  at: { readonly path: Path; readonly covers?: (attribute: Attribute) => boolean } = { path: [] },
): ParsedValues {
  const { path, covers = () => true } = at
  const values = new Map<string, DesiredValue>()
  const faults: ValueFault[] = [...unknownKeys(holder, body, path, options)]
  for (const attribute of holder.attributes.values()) {
    if (!isAssignable(attribute) || !covers(attribute)) continue
    const input = Object.hasOwn(body, attribute.name) ? body[attribute.name] : undefined
    const parsed =
      input === undefined
        ? absent(holder, attribute, path, options)
        : present(attribute, input, path, options)
    if (parsed.value !== undefined) values.set(attribute.name, parsed.value)
    addAll(faults, parsed.faults)
  }
  return { values, faults }
}

interface ParsedValue {
  readonly value: DesiredValue | undefined
  readonly faults: readonly ValueFault[]
}

const STAYS: ParsedValue = { value: undefined, faults: [] }

const refused = (fault: ValueFault): ParsedValue => ({ value: undefined, faults: [fault] })

/** Defaults apply where the key is absent, not where it is null. */
function absent(holder: Holder, attribute: Assignable, parent: Path, options: ParseOptions): ParsedValue {
  if (options.purpose === 'change') return STAYS
  const path = [...parent, attribute.name]
  if (attribute.kind === 'scalar' && attribute.default !== undefined)
    return scalar(attribute, attribute.default, path, options)
  if (!attribute.required || options.strictness === 'draft' || isGenerated(attribute)) return STAYS
  const plain = holder.holder === 'content-type' && !holder.draftAndPublish
  if (plain || options.plainly || attribute.kind !== 'scalar')
    return refused(toFault(rule('must be defined.'), path, undefined))
  return refused(missing(attribute, path))
}

function present(attribute: Assignable, input: unknown, parent: Path, options: ParseOptions): ParsedValue {
  const path = [...parent, attribute.name]
  switch (attribute.kind) {
    case 'scalar':
      return scalar(attribute, input, path, options)
    case 'component':
      return attribute.repeatable
        ? list(attribute, input, path, options)
        : single(attribute, input, path, options)
    case 'zone':
      return list(attribute, input, path, options)
    default:
      return links(attribute, input, path, options)
  }
}

function scalar(
  attribute: ScalarAttribute,
  input: unknown,
  path: Path,
  { strictness }: ParseOptions,
): ParsedValue {
  if (input === null && isGenerated(attribute)) return { value: { kind: 'scalar', value: null }, faults: [] }
  const { stored, faults } = parseScalar(attribute, input, { path, strictness })
  return { value: stored === undefined ? undefined : { kind: 'scalar', value: stored }, faults }
}

function links(
  attribute: RelationAttribute | MediaAttribute,
  input: unknown,
  path: Path,
  options: ParseOptions,
): ParsedValue {
  const { targets, change, faults } = options.links(attribute, input, path)
  if (targets === undefined) return { value: undefined, faults }
  if (attribute.required && options.strictness === 'full' && targets.length === 0)
    return { value: undefined, faults: [...faults, toFault(rule('must be defined.'), path, input)] }
  return { value: { kind: 'links', targets, ...(change === undefined ? {} : { change }) }, faults }
}

function single(
  attribute: ComponentAttribute,
  input: unknown,
  path: Path,
  options: ParseOptions,
): ParsedValue {
  if (input !== null) return items([item(attribute.component, input, path, options)])
  if (attribute.required && options.strictness === 'full')
    return refused(toFault(rule('must be defined.'), path, input))
  return items([])
}

function list(
  attribute: ComponentAttribute | ZoneAttribute,
  input: unknown,
  path: Path,
  options: ParseOptions,
): ParsedValue {
  if (!Array.isArray(input)) return refused(toFault(wrongType('array', input), path, input))
  const parsed = items(
    input.map((each, index) =>
      attribute.kind === 'zone'
        ? zoneItem(attribute, each, [...path, index], options)
        : item(attribute.component, each, [...path, index], options),
    ),
  )
  const faults = [...parsed.faults, ...counts(attribute, input, path, options)]
  return { value: faults.length === 0 ? parsed.value : undefined, faults }
}

interface ParsedItem {
  readonly item: DesiredComponent | undefined
  readonly faults: readonly ValueFault[]
}

function items(parsed: readonly ParsedItem[]): ParsedValue {
  const faults = parsed.flatMap(each => each.faults)
  const found = parsed.flatMap(each => (each.item === undefined ? [] : [each.item]))
  return { value: faults.length === 0 ? { kind: 'components', items: found } : undefined, faults }
}

/** An item that changes a component leaves out what stays; any other is made (reference/rest.md#13-components-and-zones-in-bodies). */
function item(component: Component, input: unknown, path: Path, options: ParseOptions): ParsedItem {
  if (!isBody(input)) return { item: undefined, faults: [toFault(notAnObject(input), path, input)] }
  const id = options.componentIds ? idOf(input) : null
  const { values, faults } = parseValues(
    component,
    input,
    { ...options, purpose: id === null ? 'make' : 'change' },
    { path },
  )
  return { item: { component, id, values }, faults }
}

function zoneItem(attribute: ZoneAttribute, input: unknown, path: Path, options: ParseOptions): ParsedItem {
  if (!isBody(input)) return { item: undefined, faults: [toFault(notAnObject(input), path, input)] }
  const at = [...path, '__component']
  const uid = input.__component
  const component = attribute.components.find(each => each.uid === uid)
  if (component) return item(component, input, path, options)
  const uids = attribute.components.map(each => each.uid)
  const message =
    uid === undefined ? 'is a required field' : `must be one of the following values: ${uids.join(', ')}`
  return { item: undefined, faults: [toFault(rule(message), at, uid)] }
}

type Assignable = ScalarAttribute | RelationAttribute | MediaAttribute | ComponentAttribute | ZoneAttribute

/** True for attributes that are not maintained by the service. Requests with `writable: false` ones were refused before. */
const isAssignable = (attribute: Attribute): attribute is Assignable =>
  !attribute.system && attribute.kind !== 'localizations'

const assignableNames = memoize(
  ({ attributes }: Holder): ReadonlySet<string> =>
    new Set([...attributes.values()].filter(isAssignable).map(({ name }) => name)),
)

/** Keys that lead to nothing that may be set. `componentIds`: whether a component may name itself by `id`. */
function* unknownKeys(
  holder: Holder,
  body: Body,
  path: Path,
  { componentIds }: { readonly componentIds: boolean },
): Generator<ValueFault> {
  const known = assignableNames(holder)
  for (const key of Object.keys(body)) {
    if (known.has(key)) continue
    if (holder.holder === 'component' && (key === '__component' || (key === 'id' && componentIds))) continue
    const name = holder.holder === 'component' ? holder.uid : holder.key
    yield {
      kind: 'key',
      path: [...path, key],
      message: holder.attributes.has(key)
        ? `\`${key}\` of \`${name}\` cannot be set`
        : `unknown attribute \`${key}\` of \`${name}\`${didYouMean(key, known)}`,
    }
  }
}

/** True if the service generates a missing value. */
const isGenerated = (attribute: Assignable): boolean =>
  attribute.kind === 'scalar' && attribute.generate === true
