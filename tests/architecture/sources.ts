import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import ts from 'typescript'

/** One file of core/, as the tests of the architecture see it. Paths are relative to core/. */
export interface Source {
  readonly path: string
  /** The folder below core/, or the file's own name where it lies directly in it. */
  readonly room: string
  readonly lines: number
  readonly tree: ts.SourceFile
  /** Files of core/ that it imports, types included. */
  readonly imports: readonly string[]
  /** Packages that it imports, without their sub-paths; Node's own modules left out. */
  readonly packages: readonly string[]
  /** The text of every string and template part in it. */
  readonly strings: readonly string[]
}

const core = resolve(import.meta.dirname, '..', '..', 'core')

/** Made from the schema and compared in its own test, so nobody's style. */
export const GENERATED: ReadonlySet<string> = new Set(['project/project-types.ts'])

export function readSources(): readonly Source[] {
  return readdirSync(core, { recursive: true, encoding: 'utf8' })
    .filter(path => path.endsWith('.ts') && !path.endsWith('.d.ts'))
    .sort()
    .map(readSource)
}

export function roomsWithout(file: string): readonly string[] {
  const folders = readdirSync(core, { withFileTypes: true }).filter(entry => entry.isDirectory())
  return folders
    .map(folder => ({ name: folder.name, files: readdirSync(join(core, folder.name)) }))
    .filter(({ files }) => files.length > 0 && !files.includes(file))
    .map(({ name }) => name)
}

function readSource(path: string): Source {
  const text = readFileSync(join(core, path), 'utf8')
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const specifiers = [...ts.preProcessFile(text, true, true).importedFiles].map(file => file.fileName)
  return {
    path,
    room: path.split('/')[0] ?? path,
    lines: text.split('\n').length,
    tree,
    imports: specifiers.filter(isRelative).map(name => relative(core, resolve(core, dirname(path), name))),
    packages: specifiers.filter(name => !isRelative(name) && !name.startsWith('node:')).map(packageName),
    strings: nodesOf(tree).flatMap(node => (isText(node) ? [node.text] : [])),
  }
}

const isRelative = (specifier: string): boolean => specifier.startsWith('.')

const packageName = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')

const isText = (node: ts.Node): node is ts.LiteralLikeNode =>
  ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)

export function nodesOf(node: ts.Node): readonly ts.Node[] {
  const below: ts.Node[] = [node]
  ts.forEachChild(node, child => {
    below.push(...nodesOf(child))
  })
  return below
}

/** `file:line` of a node, for messages. */
export function placeOf(source: Source, node: ts.Node): string {
  return `core/${source.path}:${source.tree.getLineAndCharacterOfPosition(node.getStart()).line + 1}`
}
