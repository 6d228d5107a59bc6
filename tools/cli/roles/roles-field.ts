import { subjectOf } from '../../../core/access/actions.ts'
import type { FieldStep } from '../../../core/access/explain/explain-field.ts'
import { failed, ok, type Result } from '../../../core/base/result.ts'
import type { Attribute, ContentType, Holder, ZoneAttribute } from '../../../core/model/model.ts'
import { unknownName } from './roles-names.ts'

/**
 * The way that `author.email`, `links.url` or `body.blocks.quote.text` stands for: over relations and media, into
 * components, in dynamic zones by their names. Else which word is unknown, with the nearest that is not.
 */
export const toSteps = (field: string, type: ContentType): Result<readonly FieldStep[], string> =>
  walk(field.split('.'), type, [])

function walk(
  [word = '', ...rest]: readonly string[],
  holder: Holder,
  before: readonly string[],
): Result<readonly FieldStep[], string> {
  const attribute = holder.attributes.get(word)
  if (!attribute)
    return failed(unknownName(`field of \`${nameOf(holder)}\``, word, [...holder.attributes.keys()]))
  const path = [...before, word]
  const step: FieldStep = { path: path.join('.'), attribute }
  if (rest.length === 0) return ok([step])
  const behind = lookBehind(attribute, rest, holder)
  if (!behind.ok) return behind
  const { taken, end } = behind.value
  if (rest.length === taken) return ok([step])
  const further = walk(rest.slice(taken), end, [...path, ...rest.slice(0, taken)])
  return further.ok ? ok([step, ...further.value]) : further
}

const nameOf = (holder: Holder): string => (holder.holder === 'content-type' ? subjectOf(holder) : holder.uid)

/** What lies behind an attribute, and how many of the words it takes to say so. */
function lookBehind(
  attribute: Attribute,
  words: readonly string[],
  holder: Holder,
): Result<{ readonly end: Holder; readonly taken: number }, string> {
  switch (attribute.kind) {
    case 'scalar':
      return failed(
        `\`${attribute.name}\` of \`${nameOf(holder)}\` is one value (${attribute.type}), which has no fields`,
      )
    case 'component':
      return ok({ end: attribute.component, taken: 0 })
    case 'zone':
      return lookInZone(attribute, words)
    default:
      return ok({ end: attribute.target, taken: 0 })
  }
}

function lookInZone({ name, components }: ZoneAttribute, words: readonly string[]) {
  const given = `${words.join('.')}.`
  const component = components.find(({ uid }) => given.startsWith(`${uid}.`))
  if (component) return ok({ end: component, taken: component.uid.split('.').length })
  const uids = components.map(({ uid }) => uid)
  return failed(unknownName(`component of \`${name}\``, words.slice(0, 2).join('.'), uids))
}
