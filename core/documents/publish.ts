import { targetsOf } from './becoming.ts'
import { NOTHING_GIVEN } from './given-body.ts'
import { visibleBy } from './matching.ts'
import { saveVersion } from './save-version.ts'
import { attributesToLoad, type SaveCommand } from './standing.ts'
import type { VersionChange } from './version-change.ts'
import { loadDocument } from './write-load.ts'

/** Makes the published version the draft's equal (documents.md 14): what a change that changes nothing does. */
export const publish: VersionChange = async ({ type, documentId, locale }, asked, terms) => {
  const changes = { kind: 'update', status: 'published', values: {}, precondition: null } as const
  const command: SaveCommand = { ...asked, ...changes, documentId, locale }
  const body = NOTHING_GIVEN
  const current = await loadDocument({ type, documentId }, attributesToLoad(command, body), terms)
  const targets = targetsOf(command, body, { ...terms, visible: visibleBy(command.conditions, terms) })
  await saveVersion({ command, documentId, body, current, targets, terms })
  return true
}
