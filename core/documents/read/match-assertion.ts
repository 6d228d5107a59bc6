import { trusted } from '../../access/brand.ts'
import type { ContentType } from '../../model/model.ts'
import type { VisibleVersion, WriteConditions } from '../../query/command.ts'
import type { Filter, LocaleChoice, Status } from '../../query/query.ts'
import { moveParameters } from '../../sql/statement.ts'
import { isStored } from '../desired-state.ts'
import type { WriteTerms } from '../rows/write-terms.ts'
import { type Assertion, joinAssertions } from '../sql/print-changes.ts'
import { choiceOf, toVersionQuery, writtenStatus } from './matching.ts'
import { toStatement } from './plan-once.ts'

type PlannedTerms = Pick<WriteTerms, 'storage' | 'defaultLocale'>

/** A version of a document that a statement looks for. */
interface SoughtVersion {
  readonly type: ContentType
  readonly documentId: string
  readonly locale: LocaleChoice
  readonly status: Status
  readonly filter: Filter | null
}

/** A version that a caller writes or links. `locale`: null on types without locales, and for all locales. */
export interface NamedDocument {
  readonly type: ContentType
  readonly documentId: string
  readonly locale: string | null
}

/** Asserts that the caller sees the document, in any of the versions. */
export const assertionOfVisible = (
  { type, documentId, locale }: NamedDocument,
  visible: readonly VisibleVersion[],
  terms: PlannedTerms,
): Assertion => {
  const sought = { type, documentId, locale: choiceOf(type, locale) }
  return assertionOfAny(
    visible.map(({ status, where }) => ({ ...sought, status, filter: where })),
    terms,
  )
}

/** Asserts that the stored version meets a condition. */
export const assertionOfStored = (
  { type, documentId, locale }: NamedDocument,
  filter: Filter,
  terms: PlannedTerms,
): Assertion =>
  assertionOfAny(
    [{ type, documentId, locale: choiceOf(type, locale), status: writtenStatus(type), filter }],
    terms,
  )

/** What the conditions demand of a version before it is written; undefined: nothing. */
export function assertionBefore(
  version: NamedDocument,
  { visible, before }: WriteConditions,
  terms: PlannedTerms,
): Assertion | undefined {
  return joinAssertions([
    // Without permission to read the type, only `before` decides.
    visible && visible.length > 0 ? assertionOfVisible(version, visible, terms) : undefined,
    before ? assertionOfStored(version, before, terms) : undefined,
  ])
}

/** Asserts that at least one of the versions is there. */
function assertionOfAny(
  sought: readonly SoughtVersion[],
  { storage, defaultLocale }: PlannedTerms,
): Assertion {
  const found = sought.map(({ documentId, ...version }) => {
    const query = toVersionQuery({ ...version, take: { kind: 'one', documentId } })
    return toStatement(trusted(query), { storage, defaultLocale, shape: 'flat' })
  })
  const values = found.flatMap(statement => statement.values)
  const isShort = values.every(isStored)
  return {
    form: isShort ? found.map(({ text }) => text).join(' OR ') : null,
    values: isShort ? values : [],
    print(own, into) {
      let count = into.length
      into.push(...(isShort ? own : values))
      const parts = found.map(({ text, values: { length } }) => {
        const moved = moveParameters(text, count)
        count += length
        return `EXISTS (${moved})`
      })
      return `(${parts.join(' OR ')})`
    },
  }
}
