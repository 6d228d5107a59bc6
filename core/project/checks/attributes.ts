import type { Path } from '../../faults/diagnostic.ts'
import type { ProjectFinding } from '../faults.ts'
import type { AttributeDeclaration } from '../settings/declarations.ts'
import type { Settings } from '../settings/settings.ts'

const PAIRS = [
  ['min', 'max'],
  ['minLength', 'maxLength'],
] as const

/** Lower bounds must not exceed upper ones. Components have bounds only if they are repeatable. */
export function* attributeBounds(settings: Settings): Generator<ProjectFinding> {
  for (const declared of attributesWithPaths(settings)) {
    yield* crossedBounds(declared)
    yield* boundsOfOne(declared)
  }
}

type Bounds = { readonly type: string } & Partial<
  Record<'min' | 'max' | 'minLength' | 'maxLength', number | string>
>

function* crossedBounds({ attribute, path }: AttributeAtPath): Generator<ProjectFinding> {
  const bounds: Bounds = attribute
  for (const [low, high] of PAIRS) {
    const [least, most] = [bounds[low], bounds[high]]
    if (least === undefined || most === undefined || !isAbove(least, most)) continue
    const message = `\`${low}\` is ${least}, which is more than \`${high}\`: ${most}`
    yield {
      code: 'conflict',
      message,
      path: [...path, low],
      related: { path: [...path, high], message: `\`${high}\` is here` },
    }
  }
}

/** Compares bounds. Texts are integers beyond the precision of a double. */
export function isAbove(one: number | string, other: number | string): boolean {
  return typeof one === 'number' && typeof other === 'number' ? one > other : BigInt(one) > BigInt(other)
}

function* boundsOfOne({ attribute, path }: AttributeAtPath): Generator<ProjectFinding> {
  if (attribute.type !== 'component' || attribute.repeatable) return
  for (const bound of ['min', 'max'] as const) {
    if (attribute[bound] === undefined) continue
    const message = `\`${bound}\` counts the components of a list: it needs \`repeatable: true\``
    yield { code: 'conflict', message, path: [...path, bound], atKey: true }
  }
}

/** An attribute with the path of its declaration. */
interface AttributeAtPath {
  readonly attribute: AttributeDeclaration
  readonly path: Path
}

/** All attributes of components, content-types and the user. */
function* attributesWithPaths({ components, contentTypes, user }: Settings): Generator<AttributeAtPath> {
  for (const [name, { attributes }] of Object.entries(components))
    yield* within(['components', name], attributes)
  for (const [name, { attributes }] of Object.entries(contentTypes))
    yield* within(['contentTypes', name], attributes)
  yield* within(['user'], user.attributes)
}

function* within(
  holder: Path,
  attributes: Readonly<Record<string, AttributeDeclaration>>,
): Generator<AttributeAtPath> {
  for (const [name, attribute] of Object.entries(attributes)) {
    yield { attribute, path: [...holder, 'attributes', name] }
  }
}
