import { trusted } from '../../access/brand.ts'
import type { ContentType } from '../../model/model.ts'
import type { VisibleVersion, WriteConditions } from '../../query/command.ts'
import type { Filter, LocaleChoice, Status } from '../../query/query.ts'
import { moveParameters } from '../../sql/statement.ts'
import { isStored } from '../desired-state.ts'
import type { WriteOptions } from '../rows/write-options.ts'
import { type Assertion, combineAssertions, joinAssertions, negateAssertion } from '../sql/print-changes.ts'
import { choiceOf, toVersionQuery, writtenStatus } from './matching.ts'
import { toStatement } from './plan-once.ts'

type PlannedOptions = Pick<WriteOptions, 'storage' | 'defaultLocale'>

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
  options: PlannedOptions,
): Assertion => {
  const sought = { type, documentId, locale: choiceOf(type, locale) }
  return combineAssertions(
    visible.map(({ status, where }) => assertionOf({ ...sought, status, filter: where }, options)),
    'OR',
  )
}

/** Asserts that the stored version meets a condition. */
export const assertionOfStored = (
  { type, documentId, locale }: NamedDocument,
  filter: Filter,
  options: PlannedOptions,
): Assertion =>
  assertionOf(
    { type, documentId, locale: choiceOf(type, locale), status: writtenStatus(type), filter },
    options,
  )

/** What the conditions demand of a version before it is written; undefined: nothing. */
export function assertionBefore(
  version: NamedDocument,
  { visible, before }: WriteConditions,
  options: PlannedOptions,
): Assertion | undefined {
  return joinAssertions([
    // Without permission to read the type, only `before` decides.
    visible && visible.length > 0 ? assertionOfVisible(version, visible, options) : undefined,
    before ? assertionOfStored(version, before, options) : undefined,
  ])
}

/** What the conditions demand of a document before it is deleted or unpublished: of its published version, too. */
export function assertionBeforeRemoval(
  version: NamedDocument,
  conditions: WriteConditions,
  options: PlannedOptions,
): Assertion | undefined {
  const { type, documentId, locale } = version
  const { before } = conditions
  const published = { type, documentId, locale: choiceOf(type, locale), status: 'published' } as const
  return joinAssertions([
    assertionBefore(version, conditions, options),
    before && type.draftAndPublish
      ? combineAssertions(
          [
            negateAssertion(assertionOf({ ...published, filter: null }, options)),
            assertionOf({ ...published, filter: before }, options),
          ],
          'OR',
        )
      : undefined,
  ])
}

/** Asserts that the version is there. */
function assertionOf(
  { documentId, ...version }: SoughtVersion,
  { storage, defaultLocale }: PlannedOptions,
): Assertion {
  const query = toVersionQuery({ ...version, take: { kind: 'one', documentId } })
  const { text, values } = toStatement(trusted(query), { storage, defaultLocale, shape: 'flat' })
  const isShort = values.every(isStored)
  return {
    form: isShort ? text : null,
    values: isShort ? values : [],
    print(own, into) {
      const moved = moveParameters(text, into.length)
      into.push(...(isShort ? own : values))
      return `EXISTS (${moved})`
    },
  }
}
