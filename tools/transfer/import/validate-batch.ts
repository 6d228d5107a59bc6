import type { DesiredDocument } from '../../../core/documents/desired-state.ts'
import type { LockingTerms, WriteTerms } from '../../../core/documents/rows/write-terms.ts'
import { findUniqueConflicts } from '../../../core/documents/unique/unique-conflicts.ts'
import {
  findConflictingClaims,
  partClaimsOf,
} from '../../../core/documents/unique/unique-conflicts-in-components.ts'
import { printPath } from '../../../core/faults/diagnostic.ts'
import type { Component, ContentType } from '../../../core/model/model.ts'
import type { StreamIndex } from '../index-stream.ts'
import type { LineFault } from '../stream-fault.ts'
import type { Decided } from './checkpoint.ts'
import type { FindExisting } from './find-existing.ts'
import { missingBytes } from './import-files.ts'
import type { ImportTerms, OnConflict } from './import-terms.ts'
import { linksIn, partsOf } from './link-names.ts'
import { nameOf, type ParsedDocument } from './parsed-document.ts'

const aboutOf = ({ line, type, documentId }: ParsedDocument) => ({ line, about: nameOf(type, documentId) })

/** The valid link targets. */
interface Known extends Pick<ImportTerms, 'roles' | 'model' | 'skipsInvalid'> {
  readonly index: StreamIndex
  readonly existing: FindExisting
}

/** Faults for links whose target is neither in the stream nor in the database. */
export function findDeletedTargets(documents: readonly ParsedDocument[], known: Known): readonly LineFault[] {
  return documents.flatMap(document => {
    const lost = new Set<string>()
    for (const values of partsOf(document))
      for (const { attribute, target } of linksIn(document.type, values))
        if (!isKnown(attribute.target, target.documentId, known))
          lost.add(lostMessage(attribute, target.documentId, known))
    return [...lost].map(message => ({ ...aboutOf(document), message }))
  })
}

/** Faults for links to documents that were deleted since the import started: no number was reserved for them. */
export function findDeleted(
  documents: readonly ParsedDocument[],
  {
    index,
    existing,
    decided,
  }: Pick<Known, 'index' | 'existing'> & { readonly decided: Pick<Decided, 'keys'> },
): readonly LineFault[] {
  const isDeleted = (target: ContentType, called: string) =>
    decided.keys[target.uid] === undefined &&
    index.find(target, called) !== undefined &&
    existing(target, called) === undefined
  return documents.flatMap(document => {
    const links = [...partsOf(document)].flatMap(values => [...linksIn(document.type, values)])
    const deleted = links.filter(({ attribute, target }) => isDeleted(attribute.target, target.documentId))
    return deleted.map(({ attribute, target }) => ({
      ...aboutOf(document),
      message: `\`${attribute.name}\` leads to the ${attribute.target.key} \`${target.documentId}\`, which was deleted while the import ran: import the file again`,
    }))
  })
}

function isKnown(target: ContentType, called: string, { index, existing, roles, model }: Known): boolean {
  if (target === model.builtIn.role) return roles.has(called)
  if (target === model.builtIn.locale) return model.locales.some(({ code }) => code === called)
  return (index.find(target, called) ?? existing(target, called)) !== undefined
}

function lostMessage(
  { name, target }: { readonly name: string; readonly target: ContentType },
  called: string,
  { skipsInvalid }: Pick<Known, 'skipsInvalid'>,
): string {
  if (target.builtIn && target.key === 'role') return `\`${name}\`: the project has no role \`${called}\``
  if (target.builtIn && target.key === 'locale') return `\`${name}\`: the project has no locale \`${called}\``
  return `\`${name}\` leads to the ${target.key} \`${called}\`, which neither the stream has nor the database${skipsInvalid ? ', or which is left out' : ''}`
}

/** Faults for documents that exist although `--on-conflict fail` is set. */
export const findValueConflicts = (
  documents: readonly ParsedDocument[],
  existing: FindExisting,
  onConflict: OnConflict,
): readonly LineFault[] =>
  onConflict === 'fail'
    ? documents
        .filter(({ type, documentId }) => existing(type, documentId))
        .map(document => ({ ...aboutOf(document), message: THERE }))
    : []

const THERE =
  'the database has it already: `--on-conflict skip` leaves it as it is, `--on-conflict update` makes it what the line says'

/** Faults for missing files. */
export const findMissing = (
  documents: readonly ParsedDocument[],
  { model, filesFolder }: Pick<ImportTerms, 'model' | 'filesFolder'>,
): readonly LineFault[] =>
  documents.flatMap(document => {
    const [version] = document.versions
    if (filesFolder === null || document.type !== model.builtIn.file || !version) return []
    return missingBytes(version.values, filesFolder).map(message => ({ ...aboutOf(document), message }))
  })

/** A document of a batch, and its form for writing. */
export interface BatchEntry {
  readonly document: ParsedDocument
  readonly written: DesiredDocument
}

/**
 * Faults for unique values that another document has, in the database or in the batch, including values of components.
 * `idsOf`: the existing components of the documents, which may keep their values.
 */
export async function findDoubles(
  pairs: readonly BatchEntry[],
  idsOf: (component: Component) => readonly number[],
  terms: LockingTerms,
): Promise<readonly LineFault[]> {
  const own = doublesIn(pairs)
  const told = new Set(own.map(startOf))
  const parts = await findDoubleParts(pairs, idsOf, terms)
  return [
    ...(await findDoubleValues(pairs, terms)),
    ...own,
    ...parts.filter(each => !told.has(startOf(each))),
  ]
}

/** The line and the path of the value. */
const startOf = ({ line, message }: LineFault): string => `${line} ${message.split(',', 1)[0]}`

async function findDoubleValues(
  pairs: readonly BatchEntry[],
  terms: WriteTerms,
): Promise<readonly LineFault[]> {
  const lines = new Map(pairs.map(({ document, written }) => [written, document]))
  const taken = await findUniqueConflicts([...lines.keys()], terms)
  return taken.flatMap(({ document: written, attribute, value }) => {
    const document = lines.get(written)
    return document ? [{ ...aboutOf(document), message: takenMessage(attribute.name, value) }] : []
  })
}

const takenMessage = (place: string, value: unknown): string =>
  `\`${place}\` must be unique, and another document has \`${String(value)}\` already`

async function findDoubleParts(
  pairs: readonly BatchEntry[],
  idsOf: (component: Component) => readonly number[],
  terms: LockingTerms,
): Promise<readonly LineFault[]> {
  const claims = pairs.flatMap(({ document, written }) =>
    partClaimsOf(written).map(claim => ({ ...claim, document })),
  )
  const taken = await findConflictingClaims(claims, idsOf, terms)
  return taken.map(({ document, path, value }) => ({
    ...aboutOf(document),
    message: takenMessage(printPath(path), value),
  }))
}

/** The unique values of a document, as texts. */
export function claimsOf({ document, written }: BatchEntry): ReadonlyMap<string, string> {
  const { type } = document
  const claims = new Map<string, string>()
  for (const attribute of type.attributes.values()) {
    if (attribute.kind !== 'scalar' || !attribute.unique) continue
    for (const { statuses, locale, values } of written.versions) {
      const value = values.get(attribute.name)
      if (!statuses.includes('published') || value?.kind !== 'scalar' || value.value === null) continue
      claims.set(
        JSON.stringify([type.uid, attribute.name, locale, value.value]),
        `\`${attribute.name}\` must be unique, and \`${value.value}\``,
      )
    }
  }
  for (const { component, attribute, locale, value, path } of partClaimsOf(written))
    claims.set(
      JSON.stringify([component.uid, attribute.name, locale, value]),
      `\`${printPath(path)}\` must be unique, and \`${String(value)}\``,
    )
  return claims
}

function doublesIn(pairs: readonly BatchEntry[]): readonly LineFault[] {
  const seen = new Map<string, number>()
  return pairs.flatMap(pair => {
    const faults: LineFault[] = []
    for (const [claim, words] of claimsOf(pair)) {
      const line = seen.get(claim)
      if (line === undefined) seen.set(claim, pair.document.line)
      else faults.push({ ...aboutOf(pair.document), message: `${words} stands in line ${line} already` })
    }
    return faults
  })
}
