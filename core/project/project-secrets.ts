import type { Path } from '../faults/diagnostic.ts'
import { namesSecret, type SecretTest } from './secret-ranges.ts'

/** Sections whose keys are names of the user's own: `secret: string` declares an attribute there. */
const DECLARING = new Set<string | number | undefined>(['contentTypes', 'components', 'user', 'roles'])

/** The values that the grammar knows to be secret; `*` is any key, and a shorter path covers all below it. */
const SECRETS: readonly (readonly string[])[] = [
  ['auth', 'jwtSecret'],
  ['auth', 'mail', 'url'],
  ['apiTokens', '*', 'secret'],
  ['database', 'replicas'],
  ['upload', 'providerOptions'],
  ['database', 'url'],
]

/** Whether the value at a path of the project file must never be shown: by the grammar, or by how its key sounds. */
export const isProjectSecret: SecretTest = path => {
  if (SECRETS.some(secret => covers(secret, path))) return true
  return !DECLARING.has(path[0]) && path.some(key => namesSecret(key) && key !== 'apiTokens')
}

const covers = (secret: readonly string[], path: Path): boolean =>
  secret.length <= path.length && secret.every((key, index) => key === '*' || key === path[index])
