import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import ts from 'typescript'
import { runTypes } from '../../tools/cli/types/types.ts'
import { temporaryFolder } from '../harness/folder.ts'

// Every TypeScript block of the documentation compiles in strict mode against the package's types; every JavaScript block parses.

const root = resolve(import.meta.dirname, '../..')
const FOLDER = join(import.meta.dirname, 'blocks')

interface Block {
  /** `docs/plugins.md` */
  readonly page: string
  /** Of the first line of code, counting from 1. */
  readonly line: number
  readonly language: string
  readonly code: string
}

const pages = (): readonly string[] => [
  'README.md',
  ...readdirSync(join(root, 'docs'), { recursive: true })
    .map(name => `docs/${String(name)}`)
    .filter(name => name.endsWith('.md'))
    .toSorted(),
]

function blocksOf(page: string): readonly Block[] {
  const text = readFileSync(join(root, page), 'utf8')
  return [...text.matchAll(/^ *```(ts|tsx|typescript|js|jsx|javascript|mjs)\n([\s\S]*?)^ *```/gm)].map(
    ({ 1: language = '', 2: code = '', index }) => {
      const line = text.slice(0, index).split('\n').length + 1
      return { page, line, language, code }
    },
  )
}

const APP = "import type { PluginApp } from 'plinth'\ndeclare const app: PluginApp\n"

/** What the text around a block declares. */
const CONTEXT: Readonly<Record<string, string>> = {
  'docs/access.md': 'declare const jwt: string\ndeclare const article: Record<string, unknown>\n',
  'docs/documents-api.md': APP,
  'docs/mail.md': APP,
  'docs/search.md': APP,
  'docs/uploads.md': `import type { Readable } from 'node:stream'
declare function upload(...given: unknown[]): Promise<void>
declare function download(...given: unknown[]): Promise<Readable | null>
declare function find(...given: unknown[]): Promise<{ size: number } | null>
declare function remove(...given: unknown[]): Promise<void>\n`,
}

/** A part of a file has names that the page declares before; a whole file has all of its own. */
const isWholeFile = ({ code }: Block): boolean => /^\/\/ [\w-]+\/[\w./-]+$/m.test(code.split('\n')[0] ?? '')

/** A file imports others of its page by their places. */
function placeOf(block: Block, at: number): readonly string[] {
  const name = /^\/\/ ([\w./-]+\.ts)/.exec(block.code)?.[1]
  return [block.page, name ?? `block-${at}.ts`]
}

const contextOf = (block: Block): string =>
  isWholeFile(block) && block.page !== 'docs/uploads.md' ? '' : (CONTEXT[block.page] ?? '')

/** The project that the pages speak of. */
const PROJECT = `name: Pages
contentTypes:
  article:
    draftAndPublish: true
    attributes:
      title: string
      slug: string
      rank: integer
      cover: media
      author: { type: relation, relation: manyToOne, target: author, inversedBy: articles }
      owner: { type: relation, relation: manyToOne, target: user }
  author: { attributes: { name: string, articles: { type: relation, relation: oneToMany, target: article, mappedBy: author } } }
  page: { draftAndPublish: true, attributes: { title: string } }
  order: { attributes: { total: integer, state: string, number: integer, tenant: string, invoice: media } }
  counter: { attributes: { day: string, orders: integer } }
  audit: { attributes: { line: string } }
  note: { attributes: { title: string, text: string } }
  restaurant: { attributes: { name: string, price: integer, rent: integer, dishes: { type: relation, relation: manyToMany, target: note } } }
`

/** The output of `plinth types` for it. Names of policies and middlewares come from files. */
async function generatedTypes(t: ExecutionContext): Promise<string> {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write('project.yaml', PROJECT)
  folder.write('policies/office-hours.ts', 'export default 1')
  folder.write('mails/order-confirmed.md', '---\nsubject: Order {{ order.number }}\n---\nDear {{ name }}\n')
  const out = join(folder.path, 'types.d.ts')
  let said = ''
  const write = (text: string) => {
    said += text
  }
  t.is(await runTypes({ folder: folder.path, check: false, env: {}, out, write, writeError: write }), 0, said)
  return readFileSync(out, 'utf8')
}

/** What `plinth client` writes for the project of the page; tests/types/client.test.ts checks the real file. */
const CLIENT = `export interface StrapiClient {
  collection(name: string): { find(query: object): Promise<{ data: unknown }> }
}\n`

function programOf(files: ReadonlyMap<string, string>): ts.Program {
  const config = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(
    { ...config.config, include: ['core/index.ts'] },
    ts.sys,
    root,
  )
  const lib = ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts']
  const strict = {
    ...options,
    lib,
    strict: true,
    noUnusedLocals: false,
    noUnusedParameters: false,
    noEmit: true,
  }
  const host = ts.createCompilerHost(strict)
  const { getSourceFile, fileExists, readFile } = host
  // Imports are looked for in folders that exist.
  host.directoryExists = name => name.startsWith(FOLDER) || ts.sys.directoryExists(name)
  host.fileExists = name => files.has(name) || fileExists(name)
  host.readFile = name => files.get(name) ?? readFile(name)
  host.getSourceFile = (name, version, ...rest) => {
    const text = files.get(name)
    return text === undefined
      ? getSourceFile(name, version, ...rest)
      : ts.createSourceFile(name, text, version, true)
  }
  return ts.createProgram([...files.keys()], strict, host)
}

test('the TypeScript of the documentation compiles in strict mode', async t => {
  const blocks = pages()
    .flatMap(blocksOf)
    .filter(({ language }) => /^t/.test(language))
  t.true(blocks.length >= 50, String(blocks.length))
  const names = blocks.map((block, at) => join(FOLDER, ...placeOf(block, at)))
  const files = new Map(
    blocks.map((block, at) => [names[at] ?? '', `${contextOf(block)}export {}\n${block.code}`]),
  )
  files.set(join(FOLDER, 'types.d.ts'), await generatedTypes(t))
  for (const page of pages()) files.set(join(FOLDER, page, 'api.ts'), CLIENT)
  const program = programOf(files)
  const faults = blocks.flatMap((block, at) => {
    const file = program.getSourceFile(names[at] ?? '')
    if (!file) return [`${block.page}:${block.line} is not compiled`]
    const before = contextOf(block).split('\n').length
    return [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)].map(
      ({ start = 0, messageText }) => {
        const { line } = file.getLineAndCharacterOfPosition(start)
        return `${block.page}:${block.line + line - before} ${ts.flattenDiagnosticMessageText(messageText, '\n')}`
      },
    )
  })
  t.deepEqual(faults, [])
})

test('the JavaScript of the documentation parses', t => {
  // The JavaScript of from-strapi.md is Strapi's: parts of its classes and objects.
  const blocks = pages()
    .filter(page => page !== 'docs/from-strapi.md')
    .flatMap(blocksOf)
    .filter(({ language }) => !/^t/.test(language))
  t.true(blocks.length >= 5, String(blocks.length))
  const faults = blocks.flatMap(({ page, line, code }) => {
    const { diagnostics = [] } = ts.transpileModule(code, {
      compilerOptions: { target: ts.ScriptTarget.ESNext, module: ts.ModuleKind.ESNext },
      reportDiagnostics: true,
    })
    return diagnostics.map(
      ({ messageText }) => `${page}:${line} ${ts.flattenDiagnosticMessageText(messageText, '\n')}`,
    )
  })
  t.deepEqual(faults, [])
})
