import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Model } from '../../core/model/model.ts'
import type { Project } from '../../core/project/project.ts'
import { describe } from '../transfer/describe.ts'
import { overFiles } from '../transfer/stream-fault.ts'
import { correspond } from './field-mapping.ts'
import type { Names } from './names.ts'
import { withPresentFiles, withPresentFormats } from './read/present-files.ts'
import type { StrapiDatabase } from './read/source.ts'
import type { StrapiProject } from './read/strapi-project.ts'
import { indexRows } from './row-index.ts'
import { namesOf } from './strapi-names.ts'
import { streamDocuments } from './stream-documents.ts'
import { countLosses } from './warnings.ts'

export interface StrapiStreamTerms {
  readonly strapi: StrapiProject
  readonly names: Names
  /** The converted project. */
  readonly project: Project
  readonly model: Model
  readonly source: StrapiDatabase
}

/** The number of written documents and the losses. */
export interface StreamReport {
  /** By content-type key. */
  readonly documents: ReadonlyMap<string, number>
  readonly losses: readonly string[]
}

/**
 * Writes the documents of a Strapi database to a file that `plinth import` reads. Hashes of passwords are among them: it is
 * created again, for its owner alone. Rejects with a FileFault where it cannot be.
 */
export async function writeStream(
  path: string,
  { strapi, names, project, model, source }: StrapiStreamTerms,
): Promise<StreamReport> {
  const { lose, texts } = countLosses()
  const strapiNames = namesOf(strapi.version)
  const correspondence = correspond(strapi, names, model)
  const locales = new Set(model.locales.map(({ code }) => code))
  const { uploads } = strapi
  const indexed = await indexRows(correspondence, {
    source,
    names: strapiNames,
    defaultLocale: model.defaultLocale,
    locales,
    lose,
  })
  const table = strapiNames.table('files')
  const index = await withPresentFiles(indexed, { source, table, uploads, lose })
  const documents = new Map<string, number>()
  const types = correspondence.types.map(({ ours }) => ours)
  async function* lines(): AsyncGenerator<string> {
    yield `${JSON.stringify(describe({ project, model, types, passwords: true }))}\n`
    for await (const document of streamDocuments({
      source,
      names: strapiNames,
      correspondence,
      index,
      lose,
    })) {
      const { key = '' } = model.contentTypes.get(document.type) ?? {}
      documents.set(key, (documents.get(key) ?? 0) + 1)
      yield `${JSON.stringify(withPresentFormats(document, uploads))}\n`
    }
  }
  await overFiles(async () => {
    await rm(path, { force: true })
    await pipeline(Readable.from(lines()), createWriteStream(path, { mode: 0o600, flags: 'wx' }))
  })
  return { documents, losses: texts() }
}
