import { dirname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { blankSourceFile } from 'ts-blank-space'
import ts from 'typescript'
import { lowerSpreads } from '../../scripts/lower-spreads.js'

/** These modules load a file that lies next to the built module. */
const NEXT_TO_BUILT = ['core/project/grammar/grammar.ts', 'core/database/embedded/prepared-files.ts']

/** JavaScript with each line where the source has it, and which knows the source's place as its own. */
export function strip(text, source) {
  const file = ts.createSourceFile(source, text, ts.ScriptTarget.ESNext, false, ts.ScriptKind.TS)
  const code = blankSourceFile(file, ({ pos, end }) => {
    throw new Error(`${source}: neither JavaScript nor a type: ${text.slice(pos, end).trim()}`)
  })
  const place =
    !NEXT_TO_BUILT.some(module => source.endsWith(module)) &&
    /import\.meta\.(url|dirname|filename)/.test(text)
      ? placeOf(source)
      : ''
  return `${place}${lowerSpreads(withBuiltImports(code, file), file, '.js')}\n//# sourceURL=${pathToFileURL(source).href}\n`
}

/** Of `./a.ts` there is `./a.js`; imports of types alone are gone. */
function withBuiltImports(code, file) {
  let result = code
  for (const { end } of importsOf(file))
    if (code.slice(end - 3, end - 1) === 'ts')
      result = `${result.slice(0, end - 3)}js${result.slice(end - 1)}`
  return result
}

function importsOf(file) {
  const found = []
  const visit = node => {
    const name = ts.isCallExpression(node)
      ? node.expression.kind === ts.SyntaxKind.ImportKeyword && node.arguments[0]
      : node.moduleSpecifier
    if (name && ts.isStringLiteral(name) && /^\..*\.ts$/.test(name.text)) found.push(name)
    ts.forEachChild(node, visit)
  }
  visit(file)
  return found
}

/** Data files are next to the sources, so a built module resolves them from there. */
function placeOf(source) {
  const place = { url: pathToFileURL(source).href, dirname: dirname(source), filename: source }
  return `Object.assign(import.meta, ${JSON.stringify(place)});`
}
