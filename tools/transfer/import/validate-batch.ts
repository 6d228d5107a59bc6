import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Values } from '../../../core/documents/desired-state.ts'
import { describeConflict, type UniqueClaim, type ValueConflict } from '../../../core/import/conflicts.ts'
import { type FindExisting, linksOf } from '../../../core/import/links.ts'
import { filesOf, originalKey } from '../../../core/import/stored-files.ts'
import { isStorageKey } from '../../../core/media/storage/file-storage.ts'
import type { ContentType } from '../../../core/model/model.ts'
import type { StreamIndex } from '../index-stream.ts'
import type { LineFault } from '../stream-fault.ts'
import type { Decided } from './checkpoint.ts'
import type { ImporterOptions, OnConflict } from './import-options.ts'
import { nameOf, type ParsedDocument } from './parse-document.ts'

const aboutOf = ({ line, type, name }: ParsedDocument) => ({ line, about: nameOf(type, name) })

/** The valid link targets. */
interface Known extends Pick<ImporterOptions, 'roles' | 'model' | 'skipsInvalid'> {
  readonly index: StreamIndex
  readonly existing: FindExisting
}

/** Faults for links whose target is neither in the stream nor in the database. */
export function findUnknownTargets(documents: readonly ParsedDocument[], known: Known): readonly LineFault[] {
  return documents.flatMap(document => {
    const unknown = new Set<string>()
    for (const { attribute, target } of linksOf(document))
      if (!isKnown(attribute.target, target.documentId, known))
        unknown.add(unknownTarget(attribute, target.documentId, known))
    return [...unknown].map(message => ({ ...aboutOf(document), message }))
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
    const deleted = linksOf(document).filter(({ attribute, target }) =>
      isDeleted(attribute.target, target.documentId),
    )
    return deleted.map(({ attribute, target }) => ({
      ...aboutOf(document),
      message: `\`${attribute.name}\` leads to the ${attribute.target.key} \`${target.documentId}\`, which was deleted while the import ran: import the file again`,
    }))
  })
}

function isKnown(target: ContentType, called: string, { index, existing, roles, model }: Known): boolean {
  if (target === model.builtIn.role) return roles.has(called)
  if (target === model.builtIn.locale) return model.locales.some(({ code }) => code === called)
  return (existing(target, called) ?? index.find(target, called)) !== undefined
}

function unknownTarget(
  { name, target }: { readonly name: string; readonly target: ContentType },
  called: string,
  { skipsInvalid }: Pick<Known, 'skipsInvalid'>,
): string {
  if (target.builtIn && target.key === 'role') return `\`${name}\`: the project has no role \`${called}\``
  if (target.builtIn && target.key === 'locale') return `\`${name}\`: the project has no locale \`${called}\``
  return `\`${name}\` leads to the ${target.key} \`${called}\`, which neither the stream has nor the database${skipsInvalid ? ', or which is left out' : ''}`
}

/** Faults for documents that exist although `--on-conflict fail` is set. */
export const findExistingFaults = (
  documents: readonly ParsedDocument[],
  existing: FindExisting,
  onConflict: OnConflict,
): readonly LineFault[] =>
  onConflict === 'fail'
    ? documents
        .filter(({ type, name }) => existing(type, name))
        .map(document => ({ ...aboutOf(document), message: EXISTS }))
    : []

const EXISTS =
  'the database has it already: `--on-conflict skip` leaves it as it is, `--on-conflict update` makes it what the line says'

/** Faults for missing files. */
export const findMissingFiles = (
  documents: readonly ParsedDocument[],
  { model, filesFolder, files }: Pick<ImporterOptions, 'model' | 'filesFolder' | 'files'>,
): readonly LineFault[] =>
  documents.flatMap(document => {
    const [version] = document.versions
    if (filesFolder === null || document.type !== model.builtIn.file || !version) return []
    return missingBytes(version.values, { folder: filesFolder, provider: files.provider }).map(message => ({
      ...aboutOf(document),
      message,
    }))
  })

interface BytesPlace {
  readonly folder: string
  readonly provider: string
}

function missingBytes(values: Values, { folder, provider }: BytesPlace): readonly string[] {
  const key = originalKey(values, provider)
  if (key === null) return []
  if (!isStorageKey(key))
    return [
      `its bytes cannot be kept: \`hash\` and \`ext\` come to ${JSON.stringify(key)}, which no storage takes`,
    ]
  return filesOf(values, provider)
    .filter(file => !existsSync(join(folder, file.key)))
    .map(file => `its bytes are missing: no file \`${file.key}\` in ${folder}`)
}

export const conflictFault = (conflict: ValueConflict<ParsedDocument>): LineFault =>
  claimFault(conflict.document, conflict, conflict.other?.document.line)

/** `line`: the line that has the value; undefined: the database has it. */
export const claimFault = (document: ParsedDocument, claim: UniqueClaim, line?: number): LineFault => ({
  ...aboutOf(document),
  message: `${describeConflict(claim)}${line === undefined ? '' : `, in line ${line}`}`,
})
