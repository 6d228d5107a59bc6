import type { Path } from '../../faults/diagnostic.ts'
import type {
  Attribute,
  ComponentAttribute,
  ContentType,
  Holder,
  ScalarAttribute,
  ZoneAttribute,
} from '../../model/model.ts'
import type { DesiredComponent, DesiredValue, Stored, Values } from '../desired-state.ts'
import { missing, parseScalar } from './parse-scalar.ts'
import { below, rule, toFault, UNTRACKED, type ValueFault } from './value-fault.ts'

export interface CheckOptions {
  readonly covers: (attribute: Attribute) => boolean
  /** An attribute that was left out, of a document that is not published but simply there (reference/rest.md#3-attribute-values). */
  readonly plain: boolean
}

/** Checks all stored values of a version that is to be published, required attributes included (reference/rest.md#3-attribute-values). */
export function checkValues(type: ContentType, values: Values, options: CheckOptions): readonly ValueFault[] {
  const tested: ValueFault[] = []
  checkHolder(type, values, { path: UNTRACKED, options, faults: tested })
  if (tested.length === 0) return tested
  const faults: ValueFault[] = []
  checkHolder(type, values, { path: [], options, faults })
  return faults
}

interface Checking {
  readonly path: Path
  readonly options: CheckOptions
  /** Collects the faults. */
  readonly faults: ValueFault[]
}

function checkHolder(holder: Holder, values: Values, { path, options, faults }: Checking): void {
  for (const attribute of holder.attributes.values()) {
    if (attribute.system || !options.covers(attribute)) continue
    checkValue(attribute, values.get(attribute.name), { path: below(path, attribute.name), options, faults })
  }
}

function checkValue(attribute: Attribute, value: DesiredValue | undefined, checking: Checking): void {
  const { path, options, faults } = checking
  if (attribute.kind === 'scalar')
    faults.push(...checkScalar(attribute, value?.kind === 'scalar' ? value.value : null, path, options))
  else if (attribute.kind === 'component' || attribute.kind === 'zone')
    checkItems(attribute, value?.kind === 'components' ? value.items : null, checking)
  else if (attribute.required && (value?.kind !== 'links' || value.targets.length === 0))
    faults.push(lacking(path, options))
}

/** `input`: null if it was left out. A required list may be empty, but must not be left out where nothing is published later. */
function checkItems(
  attribute: ComponentAttribute | ZoneAttribute,
  input: readonly DesiredComponent[] | null,
  { path, options, faults }: Checking,
): void {
  const items = input ?? []
  const single = attribute.kind === 'component' && !attribute.repeatable
  for (const [index, item] of items.entries())
    checkHolder(item.component, item.values, {
      path: single ? path : below(path, index),
      options: ALL,
      faults,
    })
  const isLacking = single ? items.length === 0 : input === null && options.plain
  if (attribute.required && isLacking) {
    faults.push(lacking(path, options))
    return
  }
  const { min = 0 } = attribute
  if (!single && items.length < min && (items.length > 0 || attribute.required))
    faults.push(toFault(rule(`field must have at least ${min} items`), path, []))
}

const ALL: CheckOptions = { covers: () => true, plain: false }

const lacking = (path: Path, { plain }: CheckOptions): ValueFault =>
  toFault(rule('must be defined.'), path, plain ? undefined : null)

function checkScalar(
  attribute: ScalarAttribute,
  value: Stored,
  path: Path,
  options: CheckOptions,
): readonly ValueFault[] {
  if (value === null) {
    if (!attribute.required) return []
    return [options.plain ? lacking(path, options) : missing(attribute, path)]
  }
  if (!RULED.has(attribute.type) || isHash(attribute, value)) return []
  // An error reports a decimal as a number, which its stored text (`0.10`) is read as everywhere else.
  const read = attribute.type === 'decimal' ? Number(value) : value
  return parseScalar(attribute, read, { path, strictness: 'full' }).faults
}

/** Types with rules that drafts need not keep. */
const RULED: ReadonlySet<string> = new Set([
  ...['string', 'text', 'richtext', 'email', 'password', 'uid'],
  ...['integer', 'biginteger', 'float', 'decimal'],
])

/** The length of a stored password is unknown, as only its hash is stored. */
const isHash = ({ type }: ScalarAttribute, value: Stored): boolean =>
  type === 'password' && typeof value === 'string' && /^\$2[aby]\$\d\d\$.{53}$/.test(value)
