import type { Attribute } from '../model/model.ts'
import { openPrefetch } from './prefetch.ts'
import { visibleBy } from './read/matching.ts'
import { ignoreUnhandled } from './rows/ignore-unhandled.ts'
import { loadDocument } from './rows/write-load.ts'
import type { LockingTerms } from './rows/write-terms.ts'
import { saveVersion } from './save-version.ts'
import { findSavedTargets } from './state/new-values.ts'
import { type SaveCommand, type Saving, versionContextOf, versionOf } from './state/version-context.ts'
import { valuesOf } from './state/version-values.ts'
import { checkUnique } from './unique/check-unique.ts'
import { NOTHING_GIVEN } from './values/given-body.ts'
import type { VersionChange } from './version-change.ts'

/** Makes published versions their drafts' equals (reference/documents.md#14-publishing): what a change that changes nothing does. */
export const publish: VersionChange = {
  attributes: type => [...type.attributes.values()].filter(each => !isCopied(each)),
  async change({ type, documentId, locales, current: known }, asked, terms) {
    const changes = { kind: 'update', status: 'published', values: {}, precondition: null } as const
    const attributes = [...type.attributes.values()].filter(each => !isCopied(each))
    const body = NOTHING_GIVEN
    for (const [index, locale] of locales.entries()) {
      const command: SaveCommand = { ...asked, ...changes, documentId, locale }
      // The locale before may have changed what all of them share.
      const current = index === 0 ? known : await loadDocument({ type, documentId }, { attributes }, terms)
      const visible = visibleBy(command.conditions, terms)
      const targets = findSavedTargets(command, body, {
        ...terms,
        visible,
        held: async () => () => new Set(),
      })
      const { prefetch, cached } = openPrefetch(terms.transaction)
      const saving = { command, documentId, body, current, targets, terms: { ...terms, transaction: cached } }
      prefetchConflicts(saving, prefetch)
      await saveVersion(saving)
    }
    return locales
  },
}

/** Lists of its own are copied in the database. */
const isCopied = (attribute: Attribute): boolean =>
  attribute.kind === 'relation' && attribute.side === 'owner' && attribute.many

/** Prefetches the unique check of the draft's values, in the round trip of the inverse links. */
function prefetchConflicts(saving: Saving, prefetch: LockingTerms['transaction']): void {
  const { command, documentId, terms } = saving
  const { type } = command
  const standing = versionContextOf(saving)
  if (!standing.row) return
  const values = valuesOf(type, standing.row, type.attributes.values(), standing.place)
  const document = { type, documentId, versions: [versionOf(command, values)] }
  ignoreUnhandled(checkUnique(document, standing, { ...terms, transaction: prefetch }))
}
