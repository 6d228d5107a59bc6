import type { ProjectFinding } from '../faults.ts'
import type { Settings } from '../settings/settings.ts'

/** Refusing all but documents known beforehand needs some. */
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
