import { ignoreUnhandled } from '../base/with-timeout.ts'
import type { Rows } from '../database/database.ts'
import { fitsIndex } from '../model/columns.ts'
import { type Attribute, type ContentType, componentsOf, type ScalarAttribute } from '../model/model.ts'
import type { PermittedCommand, StatusCommand, UpdateCommand } from '../query/command.ts'
import type { Statement } from '../sql/statement.ts'
import { returningQueryOf } from './answer-query.ts'
import type { StatusChanged } from './change-status.ts'
import type { DesiredValue, OwnEdit, Slot, Values } from './desired-state.ts'
import type { Answer } from './documents.ts'
import { knownStatus } from './known-status.ts'
import { operationOf } from './links/link-change.ts'
import { placeLinks } from './links/list-bounds.ts'
import type { OptimisticTargets } from './optimistic-targets.ts'
import { originOf } from './outbox.ts'
import type { Save } from './prefetch-save.ts'
import { assertionBefore, assertionOfStored } from './read/match-assertion.ts'
import { assertionOfUnchanged, canAssertUnchanged, readAnswer } from './read/read-answer.ts'
import { isShared } from './rows/planning.ts'
import { type Saved, type SaveOptions, toEventChanges } from './save-document.ts'
import { sequencesOf } from './sql/known-sequences.ts'
import { joinAssertions, printAssertion } from './sql/print-changes.ts'
import { newComponents } from './state/new-values.ts'
import {
  isPublishing,
  type PossibleSave,
  type SaveCommand,
  staysInPlace,
  versionOf,
} from './state/version-context.ts'
import { printDocumentLock, printStoredUpdate } from './stored/print-stored-update.ts'
import { canPublishComponents } from './stored/published-components.ts'
import { areNew, hasFewComponents } from './stored/stored-components.ts'
import {
  canCopyInDatabase,
  canWriteWithoutRead,
  columnsOfAttribute,
  isCoveredByStoredRule,
  isList,
} from './stored/stored-rules.ts'
import type { Publication } from './stored/stored-update.ts'
import { checkValues } from './values/check-values.ts'
import { type GivenBody, NOTHING_GIVEN } from './values/given-body.ts'
import { writeOwnEdits } from './write-documents.ts'
import { printShaped, type ShapedInput } from './write-templates.ts'

/** An update that needs no stored values but in its statement. */
export interface StoredSave extends Save {
  readonly command: PermittedCommand<UpdateCommand> & { readonly documentId: string }
  /** See Foreseen. */
  readonly isUnpublished?: boolean
}

/** The command that an update most likely is. */
export interface Foreseen {
  readonly command: SaveCommand
  /** The update is of a document that is not published, which has to be asserted. */
  readonly isUnpublished: boolean
}

/** undefined: the caller may not change the published version that there may be. */
export function foresee(save: PossibleSave, storage: SaveOptions['storage']): Foreseen | undefined {
  if ('kind' in save) return { command: save, isUnpublished: false }
  const { draft, published } = save
  const isDraft =
    draft.documentId !== null && knownStatus({ ...draft, documentId: draft.documentId }, storage) === 'draft'
  if (isDraft) return { command: draft, isUnpublished: true }
  return published.ok ? { command: published.value, isUnpublished: false } : undefined
}

/** True if the database can check and carry out the update without a statement before: changed components, lists of the other side and values that locales share need one. */
export function canSaveStored(save: Save): save is StoredSave {
  const { command, answer, body } = save
  if (command.kind !== 'update' || command.documentId === null) return false
  if (command.type.localized && command.locale === null) return false
  if (!canAssertUnchanged(command.precondition, [answer])) return false
  if (command.unpublishes || command.locales === 'new') return false
  const attributes = [...command.type.attributes.values()]
  return attributes.every(each => (body.names(each) ? isGivenPlainly(each, save) : isLeftPlainly(each, save)))
}

function isGivenPlainly(attribute: Attribute, { command, body }: Save): boolean {
  const value = body.values.get(attribute.name)
  if (!value || isShared(command.type, attribute)) return false
  if (value.kind === 'components') return areNew(value.items) && hasFewComponents(command.type)
  if (!canWriteWithoutRead(attribute)) return false
  if (value.kind === 'links')
    return value.change?.kind === 'set' || isChangedPlainly(attribute, value, { command, body })
  if (attribute.kind !== 'scalar') return false
  const isGenerated = attribute.generate && command.strict === undefined
  if (isGenerated && value.kind === 'scalar' && (value.value === null || value.value === '')) return false
  return !attribute.unique || isHeldApart(attribute, { command, body })
}

/** A to-one link that is replaced, or a list that is edited where it is: what is added comes to its end. */
function isChangedPlainly(
  attribute: Attribute,
  { change }: Extract<DesiredValue, { readonly kind: 'links' }>,
  { command, body }: Pick<Save, 'command' | 'body'>,
): boolean {
  if (change?.kind !== 'change' || (attribute.kind !== 'relation' && attribute.kind !== 'media')) return false
  const adds = change.connect.length > 0
  if (!attribute.many) return adds
  const isAtEnd = change.connect.every(({ position }) => position.at === 'end')
  // What a required list keeps has to be read.
  return isAtEnd && (adds || !attribute.required) && staysInPlace(attribute, command, body)
}

/** Drafts hold no unique values, but those that keep all rules are held against what is published. */
const isHeldApart = (attribute: ScalarAttribute, { command }: Pick<Save, 'command' | 'body'>): boolean =>
  command.type.draftAndPublish && command.status === 'draft' ? command.strict !== true : fitsIndex(attribute)

const isLeftPlainly = (attribute: Attribute, { command }: Save): boolean =>
  !isPublishing(command) ||
  attribute.system ||
  (canPublishComponents(command.type, attribute) && !isShared(command.type, attribute)) ||
  (canCopyInDatabase(attribute) && isCoveredByStoredRule(attribute))

/**
 * Updates a stored document in one round trip. Its statement asserts what the full path checks, and fails if an assertion
 * is false or a unique index refuses a value. undefined: the caller has to take the full path, which also finds the fault.
 */
export async function saveStored(
  save: StoredSave,
  recalled: OptimisticTargets,
  options: SaveOptions,
): Promise<Saved | undefined> {
  const { command } = save
  const updated = await updateStored(save, recalled, options)
  if (!updated) return undefined
  const { type, documentId } = command
  options.recordChange({
    type,
    documentId,
    changes: toEventChanges(command, true),
    origin: originOf(command),
  })
  return { documentId, text: updated.text }
}

/** The update that publishes a draft as it is; undefined: publishing needs stored values. */
export function publishingSave(
  command: PermittedCommand<StatusCommand>,
  answer: Answer,
): StoredSave | undefined {
  const { documentId, type } = command
  if (command.kind !== 'publish' || documentId === null || !type.draftAndPublish) return undefined
  const changes = { kind: 'update', status: 'published', values: {}, precondition: null, documentId } as const
  const save = { command: { ...command, ...changes }, answer, body: NOTHING_GIVEN }
  return canSaveStored(save) ? save : undefined
}

/** Publishes a draft in one round trip; see saveStored. */
export async function publishStored(
  save: StoredSave,
  options: SaveOptions,
): Promise<StatusChanged | undefined> {
  const updated = await updateStored(save, NO_TARGETS, options)
  if (!updated) return undefined
  const { type, documentId, locale } = save.command
  const changes = [{ locale, action: 'publish' } as const]
  options.recordChange({ type, documentId, changes, origin: originOf(save.command) })
  const texts = ignoreUnhandled(updated.text.then(found => (found === null ? [] : [found])))
  return { documentId, texts }
}

const NO_TARGETS: OptimisticTargets = {
  assertion: undefined,
  targets() {
    throw new TypeError('a target that is not known')
  },
}

/** Sends the statements. The text of the answer comes with the commit. */
async function updateStored(
  { command, answer, body, isUnpublished = false }: StoredSave,
  { targets, assertion }: OptimisticTargets,
  options: SaveOptions,
): Promise<{ readonly text: Promise<string | null> } | undefined> {
  const { documentId, type, conditions } = command
  const input = await givenValues(command, body, { targets, options })
  if (!keepsRules({ command, body }, input)) return undefined
  const publication = publicationOf(command, input, options)
  if (!publication) return undefined
  const { values, edits, edited } = input
  const copies = copiesOf(command, input, options)
  const document = { type, documentId, versions: [versionOf(command, values)] }
  const returning = coversAnswer(answer, publication, command)
    ? returningQueryOf(answer, documentId, options)
    : undefined
  const before = assertionBefore(command, conditions, options)
  // A statement with lists as parameters is not kept as a template.
  const isApart = before?.form === null
  const asserted = joinAssertions([assertion, isApart ? undefined : before])
  const extras = { now: options.now, assertion: asserted, returning }
  const copied = copies.map(({ attribute }) => attribute)
  const how = { command, publication, isUnpublished, edited, copied }
  const statement = await printSave({ document, extras }, how, options)
  if (!statement) return undefined
  const needsLock = (each: Attribute) =>
    (isList(each) || componentsOf(each).length > 0 || isShared(type, each)) &&
    (publication !== 'none' || body.names(each))
  const unchanged = assertionOfUnchanged(command.precondition, [answer], documentId, options)
  const isLocked = isUnpublished || publication === 'both' || before || unchanged
  if (isLocked || [...type.attributes.values()].some(needsLock))
    options.transaction.send(printDocumentLock(type, documentId, options))
  if (before && isApart) options.transaction.send(printAssertion(before))
  if (unchanged) options.transaction.send(printAssertion(unchanged))
  const done = ignoreUnhandled(options.transaction.run(statement))
  await writeOwnEdits([...edits, ...copies], options)
  if (conditions.after)
    options.transaction.send(printAssertion(assertionOfStored(command, conditions.after, options)))
  if (!returning) return { text: ignoreUnhandled(readAnswer(answer, documentId, options)) }
  const toText = ({ rows: [row] }: Rows) => (typeof row?.[0] === 'string' ? row[0] : null)
  return { text: ignoreUnhandled(done.then(toText)) }
}

/** What a body gives, in its stored form. */
interface Given {
  readonly values: Values
  /** The components among them, with passwords as given. */
  readonly components: Values
  /** Edits of lists where they are, and these lists. */
  readonly edits: readonly OwnEdit[]
  readonly edited: readonly Attribute[]
}

async function givenValues(
  command: StoredSave['command'],
  { values: asGiven, hashed }: GivenBody,
  { targets: found, options }: Pick<OptimisticTargets, 'targets'> & { readonly options: SaveOptions },
): Promise<Given> {
  const { type, documentId, locale, strict } = command
  const source = { type, locale, reportsCount: strict !== undefined }
  const publishes = isPublishing(command)
  const components = newComponents(type, asGiven, { source, found })
  const values = new Map(hashed === asGiven ? components : newComponents(type, hashed, { source, found }))
  const edits: OwnEdit[] = []
  for (const [name, value] of hashed) {
    const attribute = type.attributes.get(name)
    if (value.kind === 'scalar') values.set(name, value)
    else if (
      value.kind === 'links' &&
      value.change &&
      (attribute?.kind === 'relation' || attribute?.kind === 'media')
    ) {
      const operation = operationOf(attribute, value.change, { source, found })
      if (operation.kind === 'set') values.set(name, { kind: 'links', targets: operation.targets })
      else if (attribute.kind === 'relation') {
        const connect = await placeLinks(operation, null, options)
        const edit = { disconnect: operation.disconnect, connect }
        edits.push({ type, attribute, documentId, locale, edit, publishes })
      }
    }
  }
  return { values, components, edits, edited: edits.map(({ attribute }) => attribute) }
}

/** Checks the given values as far as the body was not checked yet: what a version that is published or not a draft needs. */
function keepsRules(
  { command, body }: Pick<Save, 'command' | 'body'>,
  { values: stored, components, edited }: Given,
): boolean {
  const { type, strict } = command
  // Rules concern passwords as they were given.
  const links = [...stored].filter(([, { kind }]) => kind === 'links')
  const values = new Map([...body.values, ...links, ...components])
  const names = (attribute: Attribute) => body.names(attribute) && !edited.includes(attribute)
  if (isPublishing(command)) return checkValues(type, values, { covers: names, plain: false }).length === 0
  if (type.draftAndPublish && strict !== true) return true
  const covers = (attribute: Attribute) =>
    names(attribute) && (attribute.kind !== 'scalar' || (attribute.generate === true && strict !== undefined))
  return checkValues(type, values, { covers, plain: true }).length === 0
}

/** undefined: lists that locales share have to be copied, or components that differ from the published ones. */
function publicationOf(
  command: StoredSave['command'],
  { values }: Given,
  { storage }: Pick<SaveOptions, 'storage'>,
): Publication | undefined {
  if (!isPublishing(command)) return 'none'
  const { type } = command
  const status = knownStatus(command, storage)
  const isLeft = (each: Attribute) => componentsOf(each).length > 0 && !values.has(each.name)
  if (status === 'changed' && [...type.attributes.values()].some(isLeft)) return undefined
  if (status === 'published' && canUpdateBoth(type, values, storage)) return 'both'
  if (status !== 'draft') return 'copied'
  return [...type.attributes.values()].some(each => isList(each) && isShared(type, each))
    ? undefined
    : 'begins'
}

/**
 * True if one UPDATE gives both rows the same: not links with a place in a list of the inverse side, of which each row would
 * get its own. What only publishes changes nothing on a draft that is published already.
 */
const canUpdateBoth = (type: ContentType, values: Values, storage: SaveOptions['storage']): boolean =>
  values.size > 0 &&
  [...values.keys()].every(name => {
    const attribute = type.attributes.get(name)
    return !attribute || (columnsOfAttribute(type, attribute, storage)?.inversePosition ?? null) === null
  })

/** The lists of the draft that publishing copies after a write of the draft alone. All others are asserted to be equal. */
function copiesOf(
  command: StoredSave['command'],
  { values, edited }: Given,
  { storage }: Pick<SaveOptions, 'storage'>,
): readonly OwnEdit[] {
  const { type, documentId, locale } = command
  if (!isPublishing(command) || knownStatus(command, storage) !== 'changed') return []
  const edit = { disconnect: [], connect: [] }
  return [...type.attributes.values()]
    .filter(isList)
    .filter(each => !isShared(type, each) && !values.has(each.name) && !edited.includes(each))
    .map(attribute => ({ type, attribute, documentId, locale, edit, publishes: true }))
}

/** True if the statement writes all rows that the answer may show. */
function coversAnswer(
  { query: { status, locale } }: Answer,
  publication: Publication,
  { type, locale: written }: Pick<StoredSave['command'], 'type' | 'locale'>,
): boolean {
  const coversLocales =
    !type.localized || (locale.kind === 'these' && locale.codes.every(each => each === written))
  return coversLocales && (publication !== 'none' || !type.draftAndPublish || status === 'draft')
}

interface PrintedSave extends Pick<StoredSave, 'command'> {
  readonly publication: Publication
  readonly isUnpublished: boolean
  /** The lists that statements after this one edit. */
  readonly edited: readonly Attribute[]
  /** The lists that they copy from the draft. */
  readonly copied: readonly Attribute[]
}

/** Rules and generated values concern the attributes that are not given: the shape of the write determines them. */
function printSave(
  input: ShapedInput,
  { command, publication, isUnpublished, edited, copied }: PrintedSave,
  options: SaveOptions,
): Promise<Statement | undefined> {
  const { type, strict } = command
  const print = async ({ document, extras }: ShapedInput<Slot>) => {
    const left = [...type.attributes.values()].filter(
      each => !document.versions[0]?.values.has(each.name) && !edited.includes(each),
    )
    const generated = left.filter(each => each.kind === 'scalar' && each.generate)
    const ruled = isPublishing(command) ? left : strict === undefined ? [] : generated
    const filled = (strict === undefined ? generated : []).flatMap(
      each => columnsOfAttribute(type, each, options.storage)?.values ?? [],
    )
    const sequences = await sequencesOf(options)
    return printStoredUpdate(
      { document, publication, isUnpublished, edited: [...edited, ...copied], ruled, filled },
      { ...options, ...extras, sequences },
    )
  }
  const names = (all: readonly Attribute[]) => all.map(({ name }) => name)
  const form = `update ${publication} ${strict} ${isUnpublished} ${names(edited)} ${names(copied)}`
  return printShaped(input, { form, print }, options)
}
