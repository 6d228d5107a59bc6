import { memoize } from '../../../core/base/memo.ts'
import { didYouMean } from '../../../core/base/nearest.ts'
import { addAll } from '../../../core/base/plain-data.ts'
import type {
  DesiredComponent,
  DesiredValue,
  LinkTarget,
  Values,
} from '../../../core/documents/desired-state.ts'
import { type Body, counts, isBody, notAnObject } from '../../../core/documents/values/parse-item.ts'
import { parseScalar } from '../../../core/documents/values/parse-scalar.ts'
import {
  below,
  rule,
  toFault,
  UNTRACKED,
  type ValueFault,
  wrongType,
} from '../../../core/documents/values/value-fault.ts'
import type { Path } from '../../../core/faults/diagnostic.ts'
import { parseLink } from '../../../core/import/links.ts'
import type {
  Attribute,
  Component,
  ComponentAttribute,
  ContentType,
  Holder,
  MediaAttribute,
  RelationAttribute,
  ScalarAttribute,
  ZoneAttribute,
} from '../../../core/model/model.ts'
import { streamedAttributes } from '../describe.ts'
import { isSecret } from '../to-streamed-document.ts'

export interface ValueOptions {
  /** True if the stream declares an attribute. If so, and a line omits it, it is null or empty. */
  readonly describes: (holder: Holder, attribute: Attribute) => boolean
  readonly locales: readonly string[]
}

export interface ParsedStreamValues {
  readonly values: Values
  readonly faults: readonly ValueFault[]
}

const NOTHING_WRONG: readonly ValueFault[] = []

/** Converts the streamed attributes of a version to stored form; links keep the names of their targets. `attributes`: those that it may have. */
export function parseStreamedValues(
  type: ContentType,
  body: Body,
  options: ValueOptions,
  attributes: readonly Attribute[],
): ParsedStreamValues {
  const parsed = parseAttributes({ holder: type, attributes }, body, UNTRACKED, options)
  return parsed.faults.length === 0
    ? parsed
    : parseAttributes({ holder: type, attributes }, body, [], options)
}

interface Part {
  readonly holder: Holder
  readonly attributes: readonly Attribute[]
}

function parseAttributes(part: Part, body: Body, path: Path, options: ValueOptions): ParsedStreamValues {
  const { holder, attributes } = part
  const values = new Map<string, DesiredValue>()
  const faults = unknownAttributes(part, body, path)
  for (const attribute of attributes) {
    const input = Object.hasOwn(body, attribute.name) ? body[attribute.name] : undefined
    if (input === undefined && !options.describes(holder, attribute)) continue
    const parsed = parseValue(holder, attribute, input ?? null, below(path, attribute.name), options)
    if (parsed.value !== undefined) values.set(attribute.name, parsed.value)
    addAll(faults, parsed.faults)
  }
  return { values, faults }
}

const namesOf = memoize(
  (attributes: readonly Attribute[]): ReadonlySet<string> => new Set(attributes.map(({ name }) => name)),
)

function unknownAttributes({ holder, attributes }: Part, body: Body, path: Path): ValueFault[] {
  const known = namesOf(attributes)
  const faults: ValueFault[] = []
  for (const key of Object.keys(body)) {
    if (known.has(key) || (key === '__component' && holder.holder === 'component')) continue
    const name = holder.holder === 'component' ? holder.uid : holder.key
    const other = holder.attributes.get(key)
    const message = other
      ? misplaced(key, other)
      : `unknown attribute \`${key}\` of \`${name}\`${didYouMean(key, known)}`
    faults.push({ kind: 'key', path: below(path, key), message })
  }
  return faults
}

function misplaced(key: string, attribute: Attribute): string {
  if (attribute.system) return `\`${key}\` belongs to the document or its version, not to \`values\``
  if (attribute.kind === 'relation' && attribute.side === 'inverse')
    return `the other side stores the links of \`${key}\`: set them there`
  return attribute.localized
    ? `each locale has its own \`${key}\``
    : `all locales share \`${key}\`: set it under \`shared\``
}

interface ParsedValue {
  readonly value?: DesiredValue
  readonly faults: readonly ValueFault[]
}

function parseValue(
  holder: Holder,
  attribute: Attribute,
  input: unknown,
  path: Path,
  options: ValueOptions,
): ParsedValue {
  switch (attribute.kind) {
    case 'scalar':
      return parseStreamedScalar(holder, attribute, input, path)
    case 'component':
      return attribute.repeatable
        ? parseList(attribute, input, path, options)
        : parseItems(input === null ? [] : [parseComponent(attribute.component, input, path, options)])
    case 'zone':
      return parseList(attribute, input, path, options)
    case 'localizations':
    case 'morph':
      return { faults: NOTHING_WRONG }
    default:
      return parseLinks(attribute, input, path, options.locales)
  }
}

function parseStreamedScalar(
  holder: Holder,
  attribute: ScalarAttribute,
  input: unknown,
  path: Path,
): ParsedValue {
  if (input === null) return { value: { kind: 'scalar', value: null }, faults: NOTHING_WRONG }
  if (attribute.type === 'password') return parseHash(input, path)
  // JSON.parse has rounded it.
  if (attribute.type === 'biginteger' && typeof input === 'number' && !Number.isSafeInteger(input))
    return { faults: [toFault(rule('is too large to be kept exactly: put it in quotes'), path, input)] }
  // Only the rules for drafts: those for published versions are checked when the whole document is known.
  const text = attribute.type === 'json' ? JSON.stringify(input) : input
  const lax = isSecret(holder, attribute) ? { ...attribute, required: false } : attribute
  const { stored, faults } = parseScalar(lax, text, { path, strictness: 'draft' })
  return stored === undefined ? { faults } : { value: { kind: 'scalar', value: stored }, faults }
}

const HASH = /^\$2[aby]\$\d\d\$.{53}$/

function parseHash(input: unknown, path: Path): ParsedValue {
  const hash = isBody(input) ? input.hash : undefined
  if (typeof hash === 'string' && HASH.test(hash))
    return { value: { kind: 'scalar', value: hash }, faults: NOTHING_WRONG }
  // Never quote the value: it may be a password.
  return {
    faults: [
      toFault(
        rule('is not `{ "hash": … }` with a bcrypt hash: passwords themselves are not imported'),
        path,
        undefined,
      ),
    ],
  }
}

function parseList(
  attribute: ComponentAttribute | ZoneAttribute,
  input: unknown,
  path: Path,
  options: ValueOptions,
): ParsedValue {
  const list = input === null ? [] : isBody(input) ? [input] : input
  if (!Array.isArray(list)) return { faults: [toFault(wrongType('array', input), path, input)] }
  const parsed = parseItems(
    list.map((each, index) =>
      attribute.kind === 'zone'
        ? parseZoneItem(attribute, each, below(path, index), options)
        : parseComponent(attribute.component, each, below(path, index), options),
    ),
  )
  const faults = [...parsed.faults, ...counts(attribute, list, path, { strictness: 'draft' })]
  return parsed.value && faults.length === 0 ? { value: parsed.value, faults } : { faults }
}

interface ParsedItem {
  readonly item?: DesiredComponent
  readonly faults: readonly ValueFault[]
}

function parseItems(parsed: readonly ParsedItem[]): ParsedValue {
  const items: DesiredComponent[] = []
  const faults: ValueFault[] = []
  for (const each of parsed) {
    addAll(faults, each.faults)
    if (each.item !== undefined) items.push(each.item)
  }
  return faults.length > 0 ? { faults } : { value: { kind: 'components', items }, faults }
}

function parseComponent(component: Component, input: unknown, path: Path, options: ValueOptions): ParsedItem {
  if (!isBody(input)) return { faults: [toFault(notAnObject(input), path, input)] }
  const part = { holder: component, attributes: streamedAttributes(component) }
  const { values, faults } = parseAttributes(part, input, path, options)
  return { item: { component, id: null, values }, faults }
}

function parseZoneItem(
  attribute: ZoneAttribute,
  input: unknown,
  path: Path,
  options: ValueOptions,
): ParsedItem {
  if (!isBody(input)) return { faults: [toFault(notAnObject(input), path, input)] }
  const component = attribute.components.find(({ uid }) => uid === input.__component)
  if (component) return parseComponent(component, input, path, options)
  const uids = attribute.components.map(({ uid }) => uid).join(', ')
  const message =
    input.__component === undefined ? 'is a required field' : `must be one of the following values: ${uids}`
  return { faults: [toFault(rule(message), below(path, '__component'), input.__component)] }
}

/** Parses links: a documentId, an object, or a list of these. */
function parseLinks(
  attribute: RelationAttribute | MediaAttribute,
  input: unknown,
  path: Path,
  locales: readonly string[],
): ParsedValue {
  const options = { keys: LINK_KEYS, locales }
  const targets: LinkTarget[] = []
  const faults: ValueFault[] = []
  const add = (each: unknown, at: Path): void => {
    const link = parseLink(each, at, options)
    addAll(faults, link.faults)
    if (link.target !== undefined) targets.push(link.target)
  }
  if (Array.isArray(input)) for (const [index, each] of input.entries()) add(each, below(path, index))
  else if (input !== null) add(input, path)
  if (!attribute.many && !isOne(targets))
    faults.push({
      kind: 'rule',
      path,
      message: `\`${attribute.name}\` leads to one document, not to several`,
    })
  return faults.length > 0 ? { faults } : { value: { kind: 'links', targets }, faults }
}

/** At most one per status. */
const isOne = (targets: readonly LinkTarget[]): boolean =>
  targets.length < 2 || new Set(targets.map(({ status }) => status)).size === targets.length

const LINK_KEYS = ['documentId', 'locale', 'status', 'order']
