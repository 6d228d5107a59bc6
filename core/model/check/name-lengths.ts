import { attributePath, attributesOf, type Declarations } from '../declarations.ts'
import type { Finding } from './finding.ts'

/** PostgreSQL's limit for a name: answers are built by it, with attributes as names of columns. */
const LONGEST = 63

export function* nameLengths(declarations: Declarations): Generator<Finding> {
  for (const { holder, name } of attributesOf(declarations)) {
    if (name.length <= LONGEST) continue
    const message = `the name has ${name.length} characters; an attribute's has at most ${LONGEST}`
    yield { code: 'name-too-long', message, path: attributePath(holder, name), atKey: true }
  }
}
