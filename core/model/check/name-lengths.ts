import { attributePath, type Declarations, declaredAttributes } from '../declarations.ts'
import type { ModelFinding } from './finding.ts'

/** PostgreSQL's limit for a name in bytes. Statements use attribute names as column names. */
const LONGEST = 63

export function* nameLengths(declarations: Declarations): Generator<ModelFinding> {
  for (const { holder, name } of declaredAttributes(declarations)) {
    if (name.length <= LONGEST) continue
    const message = `the name has ${name.length} characters; an attribute's has at most ${LONGEST}`
    yield { code: 'name-too-long', message, path: attributePath(holder, name), atKey: true }
  }
}
