import type { ProjectFinding } from '../faults.ts'
import type { Settings } from '../settings/settings.ts'

/** `only: true` needs a folder of trusted documents. */
export function* trustedDocuments({ graphql }: Settings): Generator<ProjectFinding> {
  const { folder, only } = graphql.config.trustedDocuments
  if (!only || folder !== null) return
  const path = ['graphql', 'config', 'trustedDocuments', 'only']
  yield {
    code: 'conflict',
    message: '`only: true` without a `folder` would refuse every request',
    path,
    atKey: true,
  }
}
