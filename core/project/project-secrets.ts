import type { Path } from '../faults/diagnostic.ts'
import { namesSecret, type SecretTest } from './secret-ranges.ts'

/** Sections whose keys are names of the user's own: `secret: string` declares an attribute there. */
const DECLARING = new Set<string | number | undefined>(['contentTypes', 'components', 'user', 'roles'])

/** Keys that only sound like secrets. */
const HARMLESS = new Set<string | number>(['apiTokens', 'tokens', 'credentials'])

/** Where secrets stand, and the keys there that hold none: any other may be a secret's, misspelt. `*` is any key. */
const AROUND_SECRETS: readonly { readonly under: readonly string[]; readonly open: readonly string[] }[] = [
  { under: ['auth'], open: ['jwtExpiresIn', 'register', 'mail'] },
  { under: ['auth', 'mail'], open: ['from', 'resetUrl', 'confirmUrl'] },
  { under: ['apiTokens', '*'], open: ['type', 'hash', 'expiresAt', 'permissions'] },
  {
    under: ['database'],
    open: ['replicaLag', 'pool', 'startTimeout', 'statementTimeout', 'preparedStatements', 'schema'],
  },
  { under: ['upload'], open: ['provider', 'sizeLimit', 'pixelLimit', 'allowedTypes'] },
]

/** Whether the value at a path of the project file must never be shown: by where it stands, or by how its key sounds. */
export const isProjectSecret: SecretTest = path =>
  AROUND_SECRETS.some(
    ({ under, open }) => covers(under, path) && !open.includes(String(path[under.length])),
  ) ||
  (!DECLARING.has(path[0]) && path.some(key => namesSecret(key) && !HARMLESS.has(key)))

const covers = (under: readonly string[], path: Path): boolean =>
  under.length < path.length && under.every((key, index) => key === '*' || key === path[index])
