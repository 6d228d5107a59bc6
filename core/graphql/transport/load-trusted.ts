import { readdir, readFile } from 'node:fs/promises'
import { join, resolve, sep } from 'node:path'
import type { GraphQLError, GraphQLSchema } from 'graphql'
import { failed, ok, type Result } from '../../base/result.ts'
import type { Diagnostic, SourceLocation } from '../../faults/diagnostic.ts'
import type { GraphqlSettings } from '../../project/settings/settings.ts'
import { checkDocument } from '../limits/check-document.ts'
import { openTrusted, type TrustedDocuments, type TrustedFile } from './trusted-documents.ts'

export interface TrustedTerms {
  /** The project's folder. */
  readonly root: string
  readonly config: GraphqlSettings['config']
  /** One for each format. A document must be valid in one of them. */
  readonly schemas: readonly GraphQLSchema[]
  /** Position of the folder's name in project.yaml. */
  readonly place: SourceLocation
}

/** Loads and checks every .graphql file of the folder; fails with all faults. null: no folder is configured. */
export async function loadTrusted(terms: TrustedTerms): Promise<Result<TrustedDocuments | null, Diagnostic>> {
  const { folder, only } = terms.config.trustedDocuments
  if (folder === null) return ok(null)
  const names = await filesOf(resolve(terms.root, folder))
  if (!names) return failed(trustedFault(`${folder} is no folder that can be read`, terms.place))
  const results = await Promise.all(names.map(name => loadFile(name, folder, terms)))
  const faults = results.flatMap(result => (result.ok ? [] : result.reasons))
  if (faults.length > 0) return failed(...faults)
  return ok(
    openTrusted(
      results.flatMap(result => (result.ok ? [result.value] : [])),
      only,
    ),
  )
}

async function filesOf(folder: string): Promise<readonly string[] | null> {
  try {
    const all = await readdir(folder, { recursive: true })
    return all.filter(name => name.endsWith('.graphql')).sort()
  } catch (error) {
    if (error instanceof Error && 'code' in error) return null
    throw error
  }
}

async function loadFile(
  file: string,
  folder: string,
  { root, config, schemas }: TrustedTerms,
): Promise<Result<TrustedFile, Diagnostic>> {
  const text = await readFile(join(resolve(root, folder), file), 'utf8')
  const checks = schemas.map(schema => checkDocument(text, { schema, config, introspects: true }))
  const name = file.split(sep).join('/')
  for (const checked of checks)
    if (checked.ok)
      return ok({ name: name.replace(/\.graphql$/, ''), text, document: checked.value.document })
  const [errors = []] = checks.map(checked => (checked.ok ? [] : checked.reasons))
  return failed(...errors.map(error => trustedFault(error.message, placeOf(error, join(folder, name), text))))
}

function placeOf({ locations }: GraphQLError, file: string, text: string): SourceLocation {
  const { line, column } = locations?.[0] ?? { line: 1, column: 1 }
  return { file, line, column, source: text.split(/\r?\n/)[line - 1] ?? '' }
}

const trustedFault = (message: string, place: SourceLocation): Diagnostic => ({
  code: 'bad-trusted-document',
  message,
  place,
  path: [],
})
