import type { Attribute, ContentType } from '../model/model.ts'
import type { AccessAbility } from './ability.ts'
import { type Action, isRead, subjectOf } from './actions.ts'
import type { Grants, View } from './caller.ts'
import { visibleAttributes } from './visible.ts'

/** Questions to one ability. Each view is made when first asked for and kept: a project may have hundreds of types. */
export function toGrants(name: string, makeAbility: () => AccessAbility): Grants {
  let made: AccessAbility | undefined
  const ability = (): AccessAbility => {
    made ??= makeAbility()
    return made
  }
  const views = new Map<ContentType, Map<Action, View | null>>()
  return Object.freeze({
    name,
    allows: (subject: string, action: Action) => ability().can(action, subject),
    view(type: ContentType, action: Action) {
      const known = views.get(type) ?? new Map<Action, View | null>()
      views.set(type, known)
      const before = known.get(action)
      if (before !== undefined) return before
      const view = viewOf(ability(), type, action)
      known.set(action, view)
      return view
    },
  })
}

function viewOf(ability: AccessAbility, type: ContentType, action: Action): View | null {
  const rule = ruleOf(ability, type, action)
  if (!rule) return null
  if (!isRead(action)) return answerOf(ability, type, action)
  const drafts = ruleOf(ability, type, 'readDrafts')
  return Object.freeze({
    readable: readableOf(rule.fields, type),
    where: rule.conditions ?? null,
    drafts: drafts ? Object.freeze({ where: drafts.conditions ?? null }) : null,
  })
}

/** Who wrote a document sees it, whatever else he sees, in the fields that he may read or else has written. */
function answerOf(ability: AccessAbility, type: ContentType, action: Action): View {
  const shown =
    ruleOf(ability, type, 'findOne') ?? ruleOf(ability, type, 'find') ?? ruleOf(ability, type, action)
  return Object.freeze({
    readable: readableOf(shown?.fields, type),
    where: null,
    drafts: Object.freeze({ where: null }),
  })
}

const ruleOf = (ability: AccessAbility, type: ContentType, action: Action) =>
  ability.relevantRuleFor(action, subjectOf(type))

/** A permission never opens what is private. */
function readableOf(fields: readonly string[] | undefined, type: ContentType): ReadonlySet<Attribute> {
  const visible = visibleAttributes(type)
  return fields ? new Set([...visible].filter(({ name }) => fields.includes(name))) : visible
}
