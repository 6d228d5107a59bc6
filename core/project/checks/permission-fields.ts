import type { Path } from '../../faults/diagnostic.ts'
import type { ProjectFinding } from '../faults.ts'
import type { Settings } from '../settings/settings.ts'
import { conditionalPermissions } from './declared-parts.ts'

/** `fields` lists either included fields or, with `!`, excluded ones. */
export function* permissionFields(settings: Settings): Generator<ProjectFinding> {
  for (const { terms, path } of conditionalPermissions(settings)) {
    const fields = terms.fields ?? []
    const odd = fields.findIndex(field => isExcluding(field) !== isExcluding(fields[0]))
    if (odd > 0) yield mixed([...path, 'fields'], odd)
  }
}

const isExcluding = (field: string | undefined): boolean => field?.startsWith('!') ?? false

const mixed = (path: Path, odd: number): ProjectFinding => ({
  code: 'conflict',
  message: '`fields` holds names, or names with `!`, not both',
  path: [...path, odd],
})
