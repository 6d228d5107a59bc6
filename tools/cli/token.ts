import { hashToken, newToken, printTokenHash } from '../../core/base/tokens.ts'
import { toMilliseconds } from '../../core/project/settings/fill-defaults.ts'

export interface TokenOptions {
  readonly name: string
  readonly type: 'read-only' | 'full-access' | 'custom'
  /** The time to live, such as `90d`; undefined: the token does not expire. */
  readonly expires?: string
  /** One line of JSON for programs, instead of text for people. */
  readonly json: boolean
  /** Milliseconds since 1970. */
  readonly now: number
  readonly write: (text: string) => void
  readonly writeError: (text: string) => void
}

/** A new token: `token` is for its user only; the other values go into project.yaml. */
interface MadeToken extends Pick<TokenOptions, 'name' | 'type'> {
  readonly token: string
  readonly hash: string
  readonly expiresAt?: string
}

/**
 * `plinth token`: generates an API token and prints it, which is not possible later, with the YAML that contains its
 * hash. Changes no file. Returns the exit code: 0, or 1 for an invalid name or time.
 */
export function runToken({ name, type, expires, json, now, write, writeError }: TokenOptions): 0 | 1 {
  const fault = faultOf(name, expires, now)
  if (fault !== null) {
    writeError(`${fault}\n`)
    return 1
  }
  const token = newToken()
  const hash = printTokenHash(hashToken(token))
  const end = expires === undefined ? {} : { expiresAt: new Date(endOf(expires, now)).toISOString() }
  const made: MadeToken = { name, type, token, hash, ...end }
  write(json ? `${JSON.stringify(made)}\n` : printText(made))
  return 0
}

/** The pattern of project.schema.json. */
const NAME = /^[A-Za-z][A-Za-z0-9_-]*$/

const DURATION = /^\d+(\.\d+)?[smhd]$/

/** The last date that project.yaml accepts. */
const LAST = Date.parse('9999-12-31T23:59:59.999Z')

function faultOf(name: string, expires: string | undefined, now: number): string | null {
  if (!NAME.test(name))
    return `\`${name}\` is no name for a token: letters, digits, \`_\` and \`-\`, beginning with a letter`
  if (expires === undefined) return null
  if (!DURATION.test(expires) || endOf(expires, now) <= now)
    return `\`${expires}\` is no time to live: a number with \`s\`, \`m\`, \`h\` or \`d\`, such as \`90d\``
  return endOf(expires, now) > LAST
    ? `\`${expires}\` is longer than any calendar: leave --expires out for a token without an end`
    : null
}

const endOf = (expires: string, now: number): number => now + toMilliseconds(expires)

function printText(made: MadeToken): string {
  const yaml = printYaml(made)
  return `The token. It is shown this once, and kept nowhere:\n\n  ${made.token}\n\nAdd this to project.yaml, which stores only its hash:\n\n${yaml}`
}

const printYaml = ({ name, type, hash, expiresAt }: MadeToken): string =>
  [
    'apiTokens:',
    `  ${name}:`,
    `    type: ${type}`,
    `    hash: "${hash}"`,
    ...(expiresAt === undefined ? [] : [`    expiresAt: "${expiresAt}"`]),
    ...(type === 'custom' ? ['    permissions: {} # what it may do, written like those of a role'] : []),
    '',
  ].join('\n')
