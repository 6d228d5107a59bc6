import type { ProjectFinding } from '../faults.ts'
import type { Settings } from '../settings/settings.ts'

/** The default page size must not exceed the maximum. */
export function* pageLimits({ rest, graphql }: Settings): Generator<ProjectFinding> {
  const { defaultLimit, amountLimit } = graphql.config
  if (rest.defaultLimit > rest.maxLimit) {
    const message = `\`defaultLimit\` is ${rest.defaultLimit}, which is more than \`maxLimit\`: ${rest.maxLimit}`
    yield { code: 'conflict', message, path: ['rest', 'defaultLimit'] }
  }
  if (defaultLimit > amountLimit) {
    const message = `\`defaultLimit\` is ${defaultLimit}, which is more than \`amountLimit\`: ${amountLimit}`
    yield { code: 'conflict', message, path: ['graphql', 'config', 'defaultLimit'] }
  }
}
