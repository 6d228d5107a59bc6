import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { PLAYGROUND_FILES, sourceOf } from '../core/graphql/transport/playground.ts'
import { REFERENCE_SCRIPT, referenceSource } from '../core/openapi/open-openapi.ts'

const FOLDER = join(import.meta.dirname, '../dist/run/playground')

/** Puts the files of the playground and of the API reference into the build, with the licences that they come under. */
async function copyPlayground(): Promise<void> {
  await mkdir(FOLDER, { recursive: true })
  const licences: string[] = []
  for (const [name, file] of PLAYGROUND_FILES) {
    await copyFile(sourceOf(file), join(FOLDER, name))
    const licence = await readFile(join(dirname(file.from[0]()), 'LICENSE'), 'utf8')
    licences.push(`${name}\n\n${licence}`)
  }
  const reference = referenceSource()
  await copyFile(reference.script, join(FOLDER, REFERENCE_SCRIPT))
  licences.push(`${REFERENCE_SCRIPT}\n\n${await readFile(reference.licence, 'utf8')}`)
  await writeFile(join(FOLDER, 'LICENSES.txt'), licences.join('\n\n'))
}

await copyPlayground()
