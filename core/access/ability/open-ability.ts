import { Ability } from '@casl/ability'

export { subject } from '@casl/ability'

import { didYouMean } from '../../base/nearest.ts'
import { deepFreeze } from '../../base/plain-data.ts'
import type { ContentType, Model } from '../../model/model.ts'
import type { Filter } from '../../query/query.ts'
import { type Action, BUILT_IN_ACTIONS, CONTENT_ACTIONS, isReadAction, subjectOf } from '../actions.ts'
import type { Caller } from '../caller.ts'
import { type AbilityRule, conjunction, filterFor } from '../compile/condition.ts'
import { readableAttributes } from '../readable-attributes.ts'
import { AbilityError } from './ability-error.ts'
import { matchFilter } from './match-filter.ts'
import { type MongoConditions, toMongo, UNDECIDABLE } from './to-mongo.ts'

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
      `unknown subject \`${name}\`${didYouMean(name, [...types, 'auth'])}: name a content-type, or mark a document with subject('<content-type>', document)`,
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
  const types = new Map([...model.contentTypes.values()].map(type => [subjectOf(type), type]))
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

const boundFilter = ({ conditions }: AbilityRule, user: Caller['user']): Filter | null =>
  conditions ? filterFor(conditions, user) : null

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
