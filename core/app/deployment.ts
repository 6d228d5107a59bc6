import { hostname } from 'node:os'
import type { Others } from '../migrate/migration-terms.ts'

/** Names the processes that one reload replaces together: this one, or the workers of one primary process. */
export const deploymentOf = (worker: number | undefined): string =>
  `${hostname()} ${worker === undefined ? process.pid : process.ppid}`

interface DeploymentTerms {
  readonly worker?: number | undefined
  readonly replaceOthers?: boolean
}

export const othersOf = ({ worker, replaceOthers = false }: DeploymentTerms): Others => ({
  deployment: deploymentOf(worker),
  mayOutdate: replaceOthers,
})
