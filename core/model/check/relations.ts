import { didYouMean } from '../../base/nearest.ts'
import type { RelationDeclaration, RelationKind } from '../../project/settings/settings.ts'
import {
  attributeName,
  attributeNamed,
  attributePath,
  type Declarations,
  type DeclaredHolder,
  type DeclaredType,
  declaredAttributes,
} from '../declarations.ts'
import type { ModelFinding } from './finding.ts'

/** One side of a two-way relation. `key`: the key that names the other side (`mappedBy` or `inversedBy`); `other`: its value. */
interface RelationSide {
  readonly holder: DeclaredHolder
  readonly name: string
  readonly relation: RelationDeclaration
  readonly key: Role
  readonly other: string
}

type Role = 'inversedBy' | 'mappedBy'

const OPPOSITE: { readonly [Kind in RelationKind]: RelationKind } = {
  oneToOne: 'oneToOne',
  oneToMany: 'manyToOne',
  manyToOne: 'oneToMany',
  manyToMany: 'manyToMany',
}

/** In a relation between one and many, the many side owns the link, as a column of its table. */
const ONLY_ROLE: { readonly [Kind in RelationKind]?: Role } = {
  oneToMany: 'mappedBy',
  manyToOne: 'inversedBy',
}

/** The two sides of a two-way relation name each other and have opposite roles and kinds. */
export function* relationSides(declarations: Declarations): Generator<ModelFinding> {
  for (const { holder, name, declaration } of declaredAttributes(declarations)) {
    if (declaration.type !== 'relation') continue
    const { inversedBy, mappedBy } = declaration
    const other = inversedBy ?? mappedBy
    if (other === undefined) continue
    const side: RelationSide = {
      holder,
      name,
      relation: declaration,
      key: inversedBy === undefined ? 'mappedBy' : 'inversedBy',
      other,
    }
    const finding = checkAlone(side) ?? checkPair(side, declarations)
    if (finding) yield finding
  }
}

/** Errors of one side that do not depend on the other. */
function checkAlone(side: RelationSide): ModelFinding | undefined {
  const { holder, name, relation, key } = side
  const own = `\`${attributeName(holder, name)}\``
  if (relation.inversedBy !== undefined && relation.mappedBy !== undefined) {
    return at(
      side,
      `${own} has both \`inversedBy\` and \`mappedBy\`: a side either owns the link or mirrors it`,
    )
  }
  if (holder.holder === 'component') {
    return at(side, `${own} is in a component, where relations are one-way: leave out \`${key}\``)
  }
  const only = ONLY_ROLE[relation.relation]
  if (only === undefined || only === key) return undefined
  return at(side, `${own} is ${relation.relation}, which takes \`${only}\`, not \`${key}\``)
}

function checkPair(side: RelationSide, declarations: Declarations): ModelFinding | undefined {
  const target = declarations.targets.get(side.relation.target)
  if (!target) return undefined
  const back = attributeNamed(target, side.other)
  if (back === undefined) {
    return at(
      side,
      `\`${target.key}\` has no attribute \`${side.other}\`${didYouMean(side.other, Object.keys(target.attributes))}`,
    )
  }
  if (back.type !== 'relation') {
    return at(side, `\`${attributeName(target, side.other)}\` is of type ${back.type}, not a relation`)
  }
  return checkBack(side, target, back, declarations)
}

function checkBack(
  side: RelationSide,
  target: DeclaredType,
  back: RelationDeclaration,
  declarations: Declarations,
): ModelFinding | undefined {
  const own = attributeName(side.holder, side.name)
  const other = attributeName(target, side.other)
  const fault = (message: string) => at(side, message, target)
  if (target === side.holder && side.other === side.name)
    return at(side, `\`${own}\` cannot be its own other side`)
  const end = declarations.targets.get(back.target)
  if (!end) return undefined
  if (end !== side.holder)
    return fault(`\`${other}\` leads to \`${end.key}\`, not back to \`${side.holder.key}\``)
  const needed = side.key === 'inversedBy' ? 'mappedBy' : 'inversedBy'
  const named = back[needed]
  if (named === undefined && back[side.key] !== undefined) return bothClaim(side, target, fault)
  if (named === undefined)
    return fault(`\`${other}\` does not name \`${own}\`: give it \`${needed}: ${side.name}\``)
  if (named !== side.name)
    return fault(`\`${other}\` says \`${needed}: ${named}\`, not \`${needed}: ${side.name}\``)
  const kind = OPPOSITE[side.relation.relation]
  if (back.relation === kind || side.key === 'mappedBy') return undefined
  return fault(
    `\`${own}\` is ${side.relation.relation}, so \`${other}\` must be ${kind}, not ${back.relation}`,
  )
}

/** Reported once, at the side whose name comes first. */
function bothClaim(
  side: RelationSide,
  target: DeclaredType,
  fault: (message: string) => ModelFinding,
): ModelFinding | undefined {
  const own = attributeName(side.holder, side.name)
  const other = attributeName(target, side.other)
  if (own > other) return undefined
  return fault(
    `\`${own}\` and \`${other}\` both say \`${side.key}\`: one must say \`inversedBy\`, the other \`mappedBy\``,
  )
}

function at(side: RelationSide, message: string, target?: DeclaredType): ModelFinding {
  const finding: ModelFinding = {
    code: 'relation-side',
    message,
    path: attributePath(side.holder, side.name, side.key),
  }
  if (!target || target.builtIn) return finding
  return { ...finding, related: { path: attributePath(target, side.other), message: 'the other side' } }
}

/** The target of a relation must be a content-type of the project, or `user`, `role` or `file`. */
export function* knownTargets(declarations: Declarations): Generator<ModelFinding> {
  for (const { holder, name, declaration } of declaredAttributes(declarations)) {
    if (declaration.type !== 'relation' || declarations.targets.has(declaration.target)) continue
    yield {
      code: 'unknown-target',
      message: `unknown target \`${declaration.target}\`${didYouMean(declaration.target, declarations.targets.keys())}`,
      path: attributePath(holder, name, 'target'),
    }
  }
}
