import type { Path } from '../../faults/diagnostic.ts'
import type { Declarations } from '../declarations.ts'
import type { ModelFinding } from './finding.ts'

interface Named {
  readonly name: string
  readonly renamedFrom?: string | undefined
  readonly path: Path
}

/** A former name must not be in use any more, and only one declaration may claim it. */
export function* renames(declarations: Declarations): Generator<ModelFinding> {
  const { types, components, holders, settings } = declarations
  yield* among(types.map(type => ({ name: type.key, renamedFrom: type.renamedFrom, path: type.path })))
  yield* among(components.map(({ uid, renamedFrom, path }) => ({ name: uid, renamedFrom, path })))
  for (const holder of holders) {
    const path = [...holder.path, 'attributes']
    yield* among(
      Object.entries(holder.attributes).map(([name, { renamedFrom }]) => ({
        name,
        renamedFrom,
        path: [...path, name],
      })),
    )
  }
  yield* among(
    settings.i18n.locales.map(({ code, renamedFrom }, index) => ({
      name: code,
      renamedFrom,
      path: ['i18n', 'locales', index],
    })),
  )
}

function* among(all: readonly Named[]): Generator<ModelFinding> {
  const names = new Set(all.map(({ name }) => name))
  const taken = new Map<string, string>()
  for (const { name, renamedFrom, path } of all) {
    if (renamedFrom === undefined) continue
    const at = { code: 'renamed-from', path: [...path, 'renamedFrom'] } as const
    const other = taken.get(renamedFrom)
    if (names.has(renamedFrom)) {
      yield { ...at, message: `\`${name}\` cannot be renamed from \`${renamedFrom}\`, which still exists` }
    } else if (other !== undefined) {
      yield { ...at, message: `\`${other}\` and \`${name}\` are both renamed from \`${renamedFrom}\`` }
    }
    taken.set(renamedFrom, name)
  }
}
