import { join } from 'node:path'
import { type ImportStrapiOptions, runImportStrapi } from '../../tools/cli/import-strapi.ts'
import { paintFor } from '../../tools/cli/paint.ts'
import { type Folder, temporaryFolder } from '../harness/folder.ts'

export interface Imported {
  readonly code: number
  readonly out: string
  readonly complaint: string
}

export interface ImporterOptions extends Partial<Omit<ImportStrapiOptions, 'dir' | 'folder'>> {
  readonly dir: string
  readonly out: string
}

/** `plinth import strapi <dir> --out <out>`, as the command line runs it. */
export async function runImport({ dir, out, ...more }: ImporterOptions): Promise<Imported> {
  const output: string[] = []
  const complaint: string[] = []
  const code = await runImportStrapi({
    dir,
    folder: out,
    force: false,
    json: false,
    database: undefined,
    databaseSchema: 'public',
    timeZone: 'UTC',
    content: 'database',
    env: {},
    paint: paintFor(false, {}),
    write: text => void output.push(text),
    writeError: text => void complaint.push(text),
    ...more,
  })
  return { code, out: output.join(''), complaint: complaint.join('') }
}

/** A Strapi of that version on PostgreSQL, or on SQLite. */
export type Recording = 4 | 5 | '4-sqlite'

/** The recorded project, and what it kept in its database. */
export const recorded = (recording: Recording): string => join(import.meta.dirname, `v${recording}`)

type Schema = Readonly<Record<string, unknown>>

/** A Strapi project in a folder of its own: a text is a file as it is, anything else its JSON. */
export function strapiProject(files: Readonly<Record<string, string | Schema>>): Folder {
  const folder = temporaryFolder()
  const dependencies = { '@strapi/strapi': '5.1.0', '@strapi/plugin-users-permissions': '5.1.0' }
  const manifest = { name: 'shop', dependencies }
  for (const [name, content] of Object.entries({ 'package.json': manifest, ...files })) {
    folder.write(name, typeof content === 'string' ? content : JSON.stringify(content))
  }
  return folder
}

/** The files of a collection type of that name. */
export const type = (name: string, attributes: Schema, more: Schema = {}): Record<string, Schema> => ({
  [`src/api/${name}/content-types/${name}/schema.json`]: {
    kind: 'collectionType',
    collectionName: `${name}s`.replaceAll('-', '_'),
    info: { singularName: name, pluralName: `${name}s`, displayName: name },
    ...more,
    attributes,
  },
})
