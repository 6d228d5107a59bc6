import { readFile, writeFile } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import { compile } from 'json-schema-to-typescript'

const SCHEMA = new URL('../project.schema.json', import.meta.url)
const TYPES = new URL('../core/project/project-types.ts', import.meta.url)

const BANNER = '// Made from project.schema.json by `npm run generate`: change that file, not this one.'

/** The text of core/project/project-types.ts: the project file as users write it. */
export async function generateProjectTypes(): Promise<string> {
  const schema = JSON.parse(await readFile(SCHEMA, 'utf8'))
  const style = { singleQuote: true, semi: false, printWidth: 110 }
  return compile(schema, 'ProjectFile', {
    bannerComment: BANNER,
    ignoreMinAndMaxItems: true,
    additionalProperties: false,
    style,
  })
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  await writeFile(TYPES, await generateProjectTypes())
