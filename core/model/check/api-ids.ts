import { type Declarations, type DeclaredType, holderName } from '../declarations.ts'
import { findClashes, type ModelFinding, type NameClaim } from './finding.ts'

/** Singular and plural API IDs share one namespace: routes, queries and content files use them. */
export function* apiIds({ types }: Declarations): Generator<ModelFinding> {
  const own = types.filter(type => !type.builtIn)
  for (const type of own) {
    if (type.kind === 'collection' && type.pluralApiId === type.key) yield samePlural(type)
  }
  yield* findClashes('api-id-clash', 'API ID', own.flatMap(claimsOf))
}

const samePlural = (type: DeclaredType): ModelFinding => ({
  code: 'api-id-clash',
  message: `the plural of \`${type.key}\` is \`${type.key}\` too: give it another \`pluralApiId\``,
  path: type.path,
  atKey: true,
})

function claimsOf(type: DeclaredType): readonly NameClaim[] {
  const names = type.kind === 'single' ? [type.key] : new Set([type.key, type.pluralApiId])
  return [...names].map(name => ({ name, by: holderName(type), path: type.path }))
}
