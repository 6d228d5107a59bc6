import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'

const folder = resolve(import.meta.dirname, '..', 'conformance', 'project')

/** The project of the recorded cases, with additional tokens of a test. */
export const conformanceProject = (tokens: string): string =>
  readFileSync(resolve(folder, 'project.yaml'), 'utf8').replace(/^apiTokens:$/m, `apiTokens:\n${tokens}`)

export const conformanceUsers = readFileSync(resolve(folder, 'content', 'users.yaml'), 'utf8')
