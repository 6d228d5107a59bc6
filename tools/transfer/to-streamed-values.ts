import type { DesiredComponent, DesiredValue, Values } from '../../core/documents/desired-state.ts'
import { GAP } from '../../core/documents/sql/write-rows.ts'
import type { Attribute, ContentType, Holder, ScalarAttribute } from '../../core/model/model.ts'
import type { StreamedLink, StreamedTarget, StreamedValues } from './stream.ts'

export interface StreamTerms {
  /** Whether to export password hashes. */
  readonly passwords: boolean
  /** The name of a document in the stream; undefined: it no longer exists. */
  readonly nameOf: (target: ContentType, key: number) => string | undefined
}

/** Converts stored values to the stream's format; omits null and empty values. */
export function toStreamedValues(holder: Holder, values: Values, terms: StreamTerms): StreamedValues {
  const streamed: Record<string, unknown> = {}
  for (const [name, value] of values) {
    const attribute = holder.attributes.get(name)
    const told = attribute === undefined ? undefined : toStreamed(holder, attribute, value, terms)
    if (told !== undefined) streamed[name] = told
  }
  return streamed
}

function toStreamed(holder: Holder, attribute: Attribute, value: DesiredValue, terms: StreamTerms): unknown {
  if (value.kind === 'components') return componentsIn(attribute, value.items, terms)
  if (value.kind === 'links') return linksIn(attribute, value.targets, terms)
  return attribute.kind === 'scalar' ? scalarIn(holder, attribute, value.value, terms) : undefined
}

function scalarIn(
  holder: Holder,
  attribute: ScalarAttribute,
  stored: unknown,
  { passwords }: StreamTerms,
): unknown {
  if (stored === null || (isSecret(holder, attribute) && !passwords)) return undefined
  if (attribute.type === 'password') return { hash: stored }
  return JSON_TYPES.has(attribute.type) ? parseStored(stored) : stored
}

const parseStored = (stored: unknown): unknown => JSON.parse(String(stored)) ?? undefined

const JSON_TYPES: ReadonlySet<string> = new Set(['json', 'array', 'blocks'])

/** Attributes that are credentials. */
export const isSecret = (holder: Holder, { name, type }: ScalarAttribute): boolean =>
  type === 'password' || (isUser(holder) && (name === 'resetPasswordToken' || name === 'confirmationToken'))

const isUser = ({ uid }: Holder): boolean => uid === 'plugin::users-permissions.user'

function componentsIn(attribute: Attribute, items: readonly DesiredComponent[], terms: StreamTerms): unknown {
  const isZone = attribute.kind === 'zone'
  const streamed = items.map(({ component, values }) => ({
    ...(isZone ? { __component: component.uid } : {}),
    ...toStreamedValues(component, values, terms),
  }))
  if (streamed.length === 0) return undefined
  return isZone || (attribute.kind === 'component' && attribute.repeatable) ? streamed : streamed[0]
}

type Targets = (DesiredValue & { readonly kind: 'links' })['targets']

function linksIn(attribute: Attribute, targets: Targets, { nameOf }: StreamTerms): unknown {
  if (attribute.kind !== 'relation' && attribute.kind !== 'media') return undefined
  const links = targets.flatMap(({ key, locale, status, inversePlace }): readonly StreamedTarget[] => {
    const documentId = key === undefined ? undefined : nameOf(attribute.target, key)
    if (documentId === undefined) return []
    const order = inversePlace === undefined ? {} : { order: inversePlace / GAP }
    return [
      {
        documentId,
        ...(locale === null ? {} : { locale }),
        ...(status === null ? {} : { status }),
        ...order,
      },
    ]
  })
  if (links.length === 0) return undefined
  if (attribute.many) return links.map(toLink)
  const told = inBoth(links)
  return told.length === 1 && told[0] ? toLink(told[0]) : told.map(toLink)
}

/** A to-one link has a row per status; usually both link to the same document. */
function inBoth(links: readonly StreamedTarget[]): readonly StreamedTarget[] {
  const [first, second] = links
  if (!first || !second || first.documentId !== second.documentId || first.locale !== second.locale)
    return links
  const { status: _, ...both } = first
  return [both]
}

function toLink(target: StreamedTarget): StreamedLink {
  return Object.keys(target).length === 1 ? target.documentId : target
}
