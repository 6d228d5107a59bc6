import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import ts from 'typescript'

/** One file of core/ or tools/, as the tests of the architecture see it. Paths are relative to the repository. */
export interface Source {
  readonly path: string
  /** `core/database`, or the path of a file that is in no folder of core/: `core/index.ts`. */
  readonly module: string
  /** The folder that holds the file: `core/database/embedded`. */
  readonly folder: string
  readonly lines: number
  readonly tree: ts.SourceFile
  /** Files of core/ and tools/ that it imports, types included. */
  readonly imports: readonly string[]
  /** Packages that it imports, without their sub-paths; Node's own modules left out. */
  readonly packages: readonly string[]
  /** The text of every string and template part in it. */
  readonly strings: readonly string[]
}

const root = resolve(import.meta.dirname, '..')

const TREES = ['core', 'tools']

/** Generated from the schema and compared by its own test: style rules do not apply. */
export const GENERATED: ReadonlySet<string> = new Set(['core/project/settings/settings.ts'])

export const readSources = (): readonly Source[] =>
  TREES.flatMap(tree =>
    readdirSync(join(root, tree), { recursive: true, encoding: 'utf8' }).map(path => `${tree}/${path}`),
  )
    .filter(path => /\.tsx?$/.test(path) && !path.endsWith('.d.ts'))
    .sort()
    .map(readSource)

/** Folders of source files that lack the named file. */
export function foldersWithout(file: string, sources: readonly Source[]): readonly string[] {
  const folders = new Set(sources.map(({ folder }) => folder).filter(folder => !TREES.includes(folder)))
  return [...folders].filter(folder => !existsSync(join(root, folder, file)))
}

function readSource(path: string): Source {
  const text = readFileSync(join(root, path), 'utf8')
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const specifiers = [...ts.preProcessFile(text, true, true).importedFiles].map(file => file.fileName)
  return {
    path,
    module: path.split('/').slice(0, 2).join('/'),
    folder: dirname(path),
    lines: text.split('\n').length,
    tree,
    imports: specifiers.filter(isRelative).map(name => relative(root, resolve(root, dirname(path), name))),
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

/** Names that several files export, each with its files: `Cell: core/a.ts, core/b.ts`. */
export function exportedTwice(sources: readonly Source[]): readonly string[] {
  const files = new Map<string, string[]>()
  for (const { tree, path } of sources)
    for (const name of new Set(tree.statements.flatMap(exportedNames)))
      files.set(name, [...(files.get(name) ?? []), path])
  return [...files]
    .filter(([, paths]) => paths.length > 1)
    .map(([name, paths]) => `${name}: ${paths.join(', ')}`)
}

function exportedNames(statement: ts.Statement): readonly string[] {
  const isExported =
    ts.canHaveModifiers(statement) &&
    (ts.getModifiers(statement) ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
  if (!isExported) return []
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.map(({ name }) => name.getText())
  const { name } = statement as ts.DeclarationStatement
  return name ? [name.getText()] : []
}

/** `file:line` of a node, for messages. */
export function placeOf(source: Source, node: ts.Node): string {
  return `${source.path}:${source.tree.getLineAndCharacterOfPosition(node.getStart()).line + 1}`
}
