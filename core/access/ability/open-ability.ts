import { Ability } from '@casl/ability'

export { subject } from '@casl/ability'

import { didYouMean } from '../../base/nearest.ts'
import { deepFreeze } from '../../base/plain-data.ts'
import type { ContentType, Model, ScalarAttribute, ValueType } from '../../model/model.ts'
import { isListEntryOperator, isTextual, type Operator } from '../../query/operators.ts'
import type { Comparison, Filter, RelatedFilter, Value } from '../../query/query.ts'
import {
  type Action,
  BUILT_IN_ACTIONS,
  CONTENT_ACTIONS,
  isReadAction,
  subjectOf,
  typesBySubject,
} from '../actions.ts'
import type { Caller } from '../caller.ts'
import { type AbilityRule, conjunction, filterFor, MATCHES_NOTHING } from '../compile/condition.ts'
import { readableAttributes } from '../readable-attributes.ts'
import { AbilityError } from './ability-error.ts'
import { matchesAbsent, matchFilter } from './match-filter.ts'

type Abilities = [string, string | object]

interface PlainRule {
  readonly action: string
  readonly subject: string
  readonly fields?: string[]
  readonly conditions?: MongoConditions
}

/** A caller's permissions as CASL rules. Their conditions are tested by the filters that SQL is printed from. */
export class CallerAbility extends Ability<Abilities, MongoConditions> {
  readonly #model: Model

  constructor(caller: Caller) {
    const { rules, filters, model } = bindRules(caller)
    super(deepFreeze(rules) as PlainRule[], {
      conditionsMatcher: conditions => document => {
        const filter = filters.get(conditions)
        return filter !== undefined && matchFilter(filter, document)
      },
      fieldMatcher: fields => field => fields.includes(field),
    })
    this.#model = model
    Object.freeze(this)
  }

  /** CASL asks this for every question. An unknown name is an error, not a refusal. */
  override possibleRulesFor(action: string, subject = 'all') {
    if (subject === 'all') return super.possibleRulesFor(action, subject)
    if (!ACTIONS.has(action))
      throw new AbilityError(`unknown action \`${action}\`${didYouMean(action, ACTIONS)}`)
    return super.possibleRulesFor(action, this.#subjectNamed(subject))
  }

  /** The attributes that the action may use: of the type, or of a document (`subject('article', document)`). */
  permittedFieldsOf(action: string, subject: string | object): string[] {
    const name = this.detectSubjectType(subject)
    const all = this.#typeOf(this.#subjectNamed(name))?.attributes.keys() ?? []
    const granting = this.possibleRulesFor(action, name).filter(rule => rule.matchesConditions(subject))
    return [...new Set(granting.flatMap(({ fields }) => fields ?? [...all]))]
  }

  /** Accepts the uid of a content-type, too. */
  #subjectNamed(name: string): string {
    if (Object.hasOwn(BUILT_IN_ACTIONS, name)) return name
    const type = this.#typeOf(name)
    if (type) return subjectOf(type)
    const types = [...this.#model.contentTypes.values()].map(subjectOf)
    throw new AbilityError(
      `unknown subject \`${name}\`${didYouMean(name, [...types, 'auth']) || ": name a content-type, or mark a document with subject('<content-type>', document)"}`,
    )
  }

  #typeOf(name: string): ContentType | undefined {
    const types = [...this.#model.contentTypes.values()]
    return types.find(type => type.uid === name || subjectOf(type) === name)
  }
}

const ACTIONS: ReadonlySet<string> = new Set([...CONTENT_ACTIONS, ...Object.values(BUILT_IN_ACTIONS).flat()])

interface BoundRules {
  readonly rules: PlainRule[]
  /** The filter behind the conditions of a rule. */
  readonly filters: ReadonlyMap<unknown, Filter>
  readonly model: Model
}

function bindRules({ grants, user }: Caller): BoundRules {
  const { rules, model } = grants.roleRules()
  const types = typesBySubject(model)
  const drafts = new Map(
    rules.filter(({ action }) => action === 'readDrafts').map(rule => [rule.subject, rule]),
  )
  const filters = new Map<unknown, Filter>()
  const plain = rules.map((rule): PlainRule => {
    const [action, subject] = [String(rule.action), String(rule.subject)]
    const type = types.get(subject)
    if (!type) return { action, subject }
    const fields = fieldsOf(rule, type)
    const used = isReadAction(rule.action as Action) ? [rule, drafts.get(subject)] : [rule]
    const filter = conjunction(
      boundFilter(rule, user),
      used.length > 1 ? visibleVersions(type, drafts.get(subject), user) : null,
    )
    if (!filter) return { action, subject, ...(fields && { fields }) }
    const isPrivate = used.some(
      ({ conditions } = rule) => conditions?.kind === 'personal' && conditions.isPrivate,
    )
    // Each rule has conditions of its own: CASL passes them back to find the filter.
    const conditions = deepFreeze({ ...(isPrivate ? UNDECIDABLE : toMongo(filter)) })
    filters.set(conditions, filter)
    return { action, subject, ...(fields && { fields }), conditions }
  })
  return { rules: plain, filters, model }
}

/** What covers only new documents matches no stored one. */
const boundFilter = ({ conditions, onlyNew }: AbilityRule, user: Caller['user']): Filter | null => {
  if (onlyNew) return MATCHES_NOTHING
  return conditions ? filterFor(conditions, user) : null
}

/** Drafts are documents without `publishedAt`. `rule`: the permission to read drafts. */
function visibleVersions(
  type: ContentType,
  rule: AbilityRule | undefined,
  user: Caller['user'],
): Filter | null {
  const attribute = type.attributes.get('publishedAt')
  if (!type.draftAndPublish || attribute?.kind !== 'scalar') return null
  const published: Filter = { kind: 'comparison', attribute, operator: '$notNull', values: [true] }
  if (!rule) return published
  const drafts = boundFilter(rule, user)
  return drafts && { kind: 'or', filters: [published, drafts] }
}

/** A rule of a read action never names private attributes. undefined: every field. */
function fieldsOf({ action, fields }: AbilityRule, type: ContentType): string[] | undefined {
  const named = fields === undefined ? undefined : [fields].flat()
  if (!isReadAction(action as Action)) return named
  const readable = [...readableAttributes(type)].map(({ name }) => name)
  if (!named && readable.length === type.attributes.size) return undefined
  return readable.filter(name => named?.includes(name) ?? true)
}

/** The rules in the form of CASL's packRules, for a browser. */
export async function packedRules(caller: Caller): Promise<readonly unknown[]> {
  const { packRules } = await import('@casl/ability/extra')
  return packRules(new CallerAbility(caller).rules)
}

/** Conditions in the query language of MongoDB, which CASL matches in a browser. */
type MongoConditions = Readonly<Record<string, unknown>>

/** Matches no document. A browser cannot decide the condition, so it offers nothing; the server decides. */
const UNDECIDABLE: MongoConditions = Object.freeze({ documentId: Object.freeze({ $in: [] }) })

/**
 * The filter as CASL conditions, with `$or` and `$nor`. UNDECIDABLE if it uses private attributes, which no answer
 * contains, or an order that only the database knows.
 */
const toMongo = (filter: Filter): MongoConditions => convert(filter, false) ?? UNDECIDABLE

/** null: not convertible. */
function convert(filter: Filter, negated: boolean): MongoConditions | null {
  switch (filter.kind) {
    case 'and':
    case 'or': {
      const parts = filter.filters.map(part => convert(part, negated))
      if (parts.includes(null)) return null
      const isAnd = (filter.kind === 'and') !== negated
      if (parts.length === 0) return isAnd ? {} : UNDECIDABLE
      return { [isAnd ? '$and' : '$or']: parts }
    }
    case 'not':
      return convert(filter.filter, !negated)
    case 'comparison':
      return convertComparison(filter, negated)
    case 'related':
      return convertRelated(filter, negated)
  }
}

/** A to-one relation becomes dotted paths, and some entry of a list has to match. */
function convertRelated({ attribute, filter }: RelatedFilter, negated: boolean): MongoConditions | null {
  const inner = attribute.private ? null : convert(filter, negated)
  if (!inner) return null
  const isMany =
    attribute.kind === 'component'
      ? attribute.repeatable
      : attribute.kind === 'localizations' || attribute.many
  const { name } = attribute
  const some = isMany ? someEntry(inner, name) : { $and: [{ [name]: { $ne: null } }, prefixed(inner, name)] }
  if (!some || !matchesAbsent(filter, negated)) return some
  return { $or: [some, { [name]: isMany ? { $size: 0 } : { $eq: null } }] }
}

/** CASL's `$elemMatch` takes comparisons alone, so `$or` moves around it and `$and` is merged. null: neither is possible. */
function someEntry(inner: MongoConditions, name: string): MongoConditions | null {
  const plain = merged(inner)
  if (plain) return { [name]: { $elemMatch: plain } }
  if (!Array.isArray(inner.$or) || Object.keys(inner).length > 1) return null
  const parts = inner.$or.map(part => someEntry(part, name))
  return parts.includes(null) ? null : { $or: parts }
}

/** As comparisons without groups; null: an attribute would occur twice, or the condition has `$or` or `$nor`. */
function merged(conditions: MongoConditions): MongoConditions | null {
  const names = Object.keys(conditions)
  if (!names.some(name => name.startsWith('$'))) return names.length > 0 ? conditions : null
  if (names.length > 1 || !Array.isArray(conditions.$and)) return null
  const parts: readonly (MongoConditions | null)[] = conditions.$and.map(merged)
  const entries = parts.flatMap(part => Object.entries(part ?? {}))
  const isDistinct = new Set(entries.map(([name]) => name)).size === entries.length
  return isDistinct && !parts.includes(null) ? Object.fromEntries(entries) : null
}

const prefixed = (conditions: MongoConditions, name: string): MongoConditions =>
  Object.fromEntries(
    Object.entries(conditions).map(([key, value]) =>
      key.startsWith('$') && Array.isArray(value)
        ? [key, value.map(part => prefixed(part, name))]
        : [`${name}.${key}`, value],
    ),
  )

function convertComparison(
  { attribute, operator, values }: Comparison,
  negated: boolean,
): MongoConditions | null {
  if (attribute.private || attribute.type === 'password') return null
  const positive = negated ? NEGATED[operator] : operator
  if (operator === '$between') return convertBetween(attribute, values, negated)
  if (!positive) return null
  const test = testOf(positive, attribute, values)
  if (!test) return null
  return NEGATIVE_TEXT.has(positive) && !isListEntryOperator(positive, attribute.type)
    ? { $nor: [{ [attribute.name]: test }], [attribute.name]: { $ne: null } }
    : { [attribute.name]: test }
}

function convertBetween(attribute: ScalarAttribute, ends: readonly Value[], negated: boolean) {
  const [least, most] = ends.map(end => toPlainValue(attribute, end))
  if (least === undefined || most === undefined || !isOrdered(attribute)) return null
  const { name } = attribute
  return negated
    ? { $or: [{ [name]: { $ne: null, $lt: least } }, { [name]: { $ne: null, $gt: most } }] }
    : { [name]: { $ne: null, $gte: least, $lte: most } }
}

/** JavaScript orders null as 0. The order of texts is the database's, and a browser has big integers and timestamps as texts. */
const isOrdered = ({ type }: ScalarAttribute): boolean =>
  !isTextual(type) && !['biginteger', 'timestamp', 'boolean', 'json', 'blocks', 'array'].includes(type)

function testOf(operator: Operator, attribute: ScalarAttribute, values: readonly Value[]): unknown {
  // To CASL a list with an entry that is null is null, too.
  if (operator === '$null' || operator === '$notNull') {
    if (JSON_TYPES.has(attribute.type)) return null
    return (values[0] === true) === (operator === '$null') ? { $eq: null } : { $ne: null }
  }
  const plain = values.map(value => toPlainValue(attribute, value))
  const [value] = plain
  if (isListEntryOperator(operator, attribute.type)) return entryTest(operator, value)
  if (JSON_TYPES.has(attribute.type)) return null
  switch (operator) {
    case '$eq':
      return { $eq: value }
    case '$ne':
      return { $nin: [value, null] }
    case '$in':
      return { $in: plain }
    case '$notIn':
      return { $nin: plain.length === 0 ? [] : [...plain, null] }
    case '$lt':
    case '$lte':
    case '$gt':
    case '$gte':
      return isOrdered(attribute) ? { $ne: null, [operator]: value } : null
    default:
      return isTextual(attribute.type) ? textTest(operator, String(value)) : null
  }
}

/** CASL compares scalars alone, and takes a missing list for one without the entry, which PostgreSQL does not. */
function entryTest(operator: Operator, list: unknown): unknown {
  const entry: unknown = Array.isArray(list) ? list[0] : list
  return typeof entry === 'object' || operator !== '$contains' ? null : { $eq: entry }
}

const JSON_TYPES: ReadonlySet<ValueType> = new Set(['json', 'blocks', 'array'])

/** A value as an answer contains it. */
function toPlainValue({ type }: ScalarAttribute, value: Value): unknown {
  // As PostgreSQL stores it: half of a surrogate pair is replaced.
  if (isTextual(type)) return Buffer.from(String(value)).toString()
  // Milliseconds since 1970, as a text (reference/rest.md#3-attribute-values).
  if (type === 'timestamp') return String(Date.parse(String(value)))
  if (type === 'time') return String(value).replace(/\.0+$|(\.\d*[1-9])0+$/, '$1')
  return JSON_TYPES.has(type) ? JSON.parse(String(value)) : value
}

/** A regular expression; that of a negative operator is the one that must not match. */
function textTest(operator: Operator, text: string): MongoConditions {
  const literal = text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
  const isWhole = /^\$(?:eq|ne)/.test(operator)
  const start = isWhole || operator.startsWith('$startsWith') ? '^' : ''
  const end = isWhole || operator.startsWith('$endsWith') ? '$' : ''
  return { $regex: `${start}${literal}${end}`, $options: operator.endsWith('i') ? 'i' : '' }
}

const NEGATIVE_TEXT: ReadonlySet<Operator> = new Set(['$nei', '$notContains', '$notContainsi'])

/** Absent: no operator says the opposite. */
const NEGATED: { readonly [Name in Operator]?: Operator } = {
  $eq: '$ne',
  $ne: '$eq',
  $eqi: '$nei',
  $nei: '$eqi',
  $lt: '$gte',
  $gte: '$lt',
  $gt: '$lte',
  $lte: '$gt',
  $in: '$notIn',
  $notIn: '$in',
  $contains: '$notContains',
  $notContains: '$contains',
  $containsi: '$notContainsi',
  $notContainsi: '$containsi',
  $null: '$notNull',
  $notNull: '$null',
}
