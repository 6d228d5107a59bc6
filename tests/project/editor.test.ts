import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import test from 'ava'
import { isScalar, parseDocument, visit } from 'yaml'
import { isRecord } from '../../core/base/plain-data.ts'
import { grammarOf, type JsonSchema } from '../../core/project/grammar/project-schema.ts'
import { toEditorSchema } from '../../scripts/generate-editor-schema.ts'

const root = join(import.meta.dirname, '../..')
const read = (...path: readonly string[]) => readFileSync(join(root, ...path), 'utf8')
const schema: JsonSchema = JSON.parse(read('project.schema.json'))
const SCHEMA_LINE = `# yaml-language-server: $schema=${pathToFileURL(join(root, 'project.schema.json')).href}\n`

/** A client of yaml-language-server: one process for all files. */
class Editor {
  readonly #server: ChildProcessWithoutNullStreams
  readonly #waiting = new Map<string | number, (message: Record<string, unknown>) => void>()
  #unread = Buffer.alloc(0)
  #last = 0

  constructor() {
    const home = createRequire(import.meta.url).resolve('yaml-language-server/bin/yaml-language-server')
    this.#server = spawn(process.execPath, [home, '--stdio'])
    this.#server.stdout.on('data', (part: Buffer) => this.#read(part))
  }

  async open(): Promise<void> {
    await this.#ask('initialize', { processId: process.pid, rootUri: null, capabilities: {} })
    this.#say({ method: 'initialized', params: {} })
    const yaml = { validate: true, completion: true, hover: true, schemaStore: { enable: false } }
    this.#say({ method: 'workspace/didChangeConfiguration', params: { settings: { yaml } } })
  }

  async close(): Promise<void> {
    this.#server.kill()
    await once(this.#server, 'exit')
  }

  /** The problems that an editor shows for a file. */
  async problemsOf(text: string): Promise<readonly string[]> {
    const uri = this.#show(text)
    const { params } = await new Promise<Record<string, unknown>>(done => this.#waiting.set(uri, done))
    const { diagnostics = [] } = params as { diagnostics?: readonly { message: string; range: Range }[] }
    return diagnostics.map(({ message, range }) => `${range.start.line + 1}: ${message}`)
  }

  /** The words that an editor offers at `|`. */
  async wordsAt(text: string): Promise<readonly string[]> {
    const params = this.#position(text)
    const { result } = await this.#ask('textDocument/completion', params)
    return (result as { items: readonly { label: string }[] }).items.map(({ label }) => label)
  }

  /** What an editor shows for the key at `|`. */
  async textAt(text: string): Promise<string> {
    const { result } = await this.#ask('textDocument/hover', this.#position(text))
    return JSON.stringify(result)
  }

  #position(text: string) {
    const before = text.slice(0, text.indexOf('|')).split('\n')
    const position = { line: before.length, character: before.at(-1)?.length ?? 0 }
    return { textDocument: { uri: this.#show(text.replace('|', '')) }, position }
  }

  #show(text: string): string {
    const uri = `file:///projects/${++this.#last}/project.yaml`
    const textDocument = { uri, languageId: 'yaml', version: 1, text: SCHEMA_LINE + text }
    this.#say({ method: 'textDocument/didOpen', params: { textDocument } })
    return uri
  }

  #ask(method: string, params: object): Promise<Record<string, unknown>> {
    const id = ++this.#last
    this.#say({ id, method, params })
    return new Promise(done => this.#waiting.set(id, done))
  }

  #say(message: object): void {
    const text = JSON.stringify({ jsonrpc: '2.0', ...message })
    this.#server.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`)
  }

  #read(part: Buffer): void {
    this.#unread = Buffer.concat([this.#unread, part])
    for (;;) {
      const head = this.#unread.indexOf('\r\n\r\n')
      if (head < 0) return
      const length = Number(/Content-Length: (\d+)/.exec(this.#unread.toString('utf8', 0, head))?.[1])
      const end = head + 4 + length
      if (this.#unread.length < end) return
      const message = JSON.parse(this.#unread.toString('utf8', head + 4, end))
      this.#unread = this.#unread.subarray(end)
      this.#take(message)
    }
  }

  /** Answers requests of the server, such as for its configuration, with nothing. */
  #take(message: Record<string, unknown>): void {
    const { id, method, params } = message
    if (method !== undefined && id !== undefined) this.#say({ id, result: null })
    const key = isRecord(params) ? params.uri : id
    const waiting = this.#waiting.get(key as string)
    this.#waiting.delete(key as string)
    waiting?.(message)
  }
}

interface Range {
  readonly start: { readonly line: number }
}

const editor = new Editor()
test.before(() => editor.open())
test.after.always(() => editor.close())

test('project.schema.json has the additions for editors (npm run generate)', t => {
  t.true(isDeepStrictEqual(toEditorSchema(grammarOf(schema)), schema))
})

test('an editor reports nothing in the example, the templates and a file with every key', async t => {
  const files = [
    ['project.yaml'],
    ['tests/project/good/every-key/project.yaml'],
    ...readdirSync(join(root, 'templates'))
      .filter(name => name !== 'base' && name !== 'example')
      .map(name => ['templates', name, 'project.yaml']),
  ]
  t.true(files.length >= 5)
  for (const file of files) t.deepEqual(await editor.problemsOf(read(...file)), [], file.join('/'))
})

/** The file with every key, its values replaced by a variable. */
function withVariables(isReplaced: (key: string) => boolean): string {
  const document = parseDocument(read('tests/project/good/every-key/project.yaml'))
  let count = 0
  visit(document, {
    Pair(_key, { key, value }) {
      if (isScalar(value) && isReplaced(String(key))) value.value = '${VALUE:-x}'
    },
    Seq(_key, { items }) {
      for (const item of items) if (isScalar(item)) item.value = `\${VALUE_${++count}}`
    },
  })
  return String(document)
}

test('an editor accepts a variable in place of every value', async t => {
  t.deepEqual(await editor.problemsOf(withVariables(key => key !== 'type')), [])
  t.deepEqual(await editor.problemsOf(withVariables(() => true)), [])
})

test('an editor reports wrong values and misspelt keys', async t => {
  const text = 'name: A\nserver:\n  port: many\n  logLevel: loud\n  hots: a\n'
  const problems = await editor.problemsOf(text)
  t.deepEqual(
    problems.map(problem => problem.split(':')[0]),
    ['4', '5', '6'],
    problems.join('\n'),
  )
})

const TYPES = ['string', 'enumeration', 'relation', 'media', 'component', 'dynamiczone', 'password', 'blocks']

test('an editor completes the words of all branches', async t => {
  const attribute = 'name: A\ncontentTypes:\n  a:\n    attributes:\n      b:'
  for (const [text, words] of [
    [`${attribute} |`, ['string', 'richtext', 'media']],
    [`${attribute}\n        type: |`, TYPES],
    [`${attribute}\n        type: relation\n        relation: |`, ['oneToOne', 'manyToMany']],
    [`${attribute}\n        type: relation\n        |`, ['target', 'inversedBy']],
    ['name: A\ncontentTypes:\n  a:\n    kind: |', ['collection', 'single']],
    ['name: A\nserver:\n  logLevel: |', ['debug', 'silent']],
    ['name: A\nserver:\n  cors:\n    credentials: |', ['true', 'false']],
    ['name: A\napiTokens:\n  a:\n    type: |', ['custom', 'read-only', 'full-access']],
  ] as const) {
    const found = await editor.wordsAt(text)
    for (const word of words) t.true(found.includes(word), `${text}: no ${word} in ${found.join(', ')}`)
  }
})

test('an editor shows the title and the description of every key', async t => {
  t.regex(
    await editor.textAt('name: A\nserver:\n  requestTim|eout: 3s\n'),
    /Request timeout.*Maximum duration/,
  )
  t.deepEqual(untitled(schema, '#'), [])
})

function untitled(node: unknown, path: string): readonly string[] {
  if (!isRecord(node)) return []
  const keys = isRecord(node.properties) ? Object.entries(node.properties) : []
  const found = keys.filter(([, each]) => isRecord(each) && !each.title).map(([key]) => `${path}/${key}`)
  return [...found, ...Object.entries(node).flatMap(([key, each]) => untitled(each, `${path}/${key}`))]
}
