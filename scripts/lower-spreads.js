import { posix, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Has the functions that rewritten literals call. Its own literals stay. */
const MODULE = 'core/base/copy-object.ts'

/**
 * Rewrites each `{ ...a, b }` of core/ and tools/ as `Object.assign(copyObject(a), { b })`, which makes an equal object. The V8 of
 * Node 20 gives each object that such a literal makes a hidden class of its own: the literal takes ten times as long, and all code
 * that later reads the object misses its inline caches. Lines stay where they are. `code`: the text of `file`, or what has all of its
 * characters at the same place; `extension`: of the import that is added.
 */
export function lowerSpreads(code, file, extension = '.ts') {
  const name = relative(root, file.fileName).split(sep).join('/')
  if (!/^(core|tools)\//.test(name) || name === MODULE) return code
  const edits = []
  const visit = node => {
    // Inner literals first: where one ends with the spread of another, its parenthesis closes first.
    ts.forEachChild(node, visit)
    if (ts.isObjectLiteralExpression(node) && isRewritten(node)) edits.push(...lower(node, file))
  }
  visit(file)
  if (edits.length === 0) return code
  const path = posix.relative(posix.dirname(name), MODULE).replace(/\.ts$/, extension)
  const from = path.startsWith('.') ? path : `./${path}`
  return `import { addProperties as ${ADD}, copyObject as ${COPY} } from '${from}';${apply(code, edits)}`
}

const ADD = '$addProperties'
const COPY = '$copyObject'

const isRewritten = ({ properties: [first, ...others] }) =>
  first !== undefined && ts.isSpreadAssignment(first) && others.length > 0 && others.every(isPlain)

/** `__proto__: a` sets the prototype, and Object.assign calls accessors. */
const isPlain = property =>
  ts.isSpreadAssignment(property) ||
  ts.isShorthandPropertyAssignment(property) ||
  ts.isMethodDeclaration(property) ||
  (ts.isPropertyAssignment(property) && property.name.text !== '__proto__')

function lower(literal, file) {
  const { properties, end } = literal
  const [first, second, ...others] = properties
  // Only these may have a property `__proto__`, for which Object.assign would call the setter of that name.
  const isOpen = [second, ...others].some(
    each => ts.isSpreadAssignment(each) || ts.isComputedPropertyName(each.name),
  )
  const start = literal.getStart(file)
  const added =
    ts.isSpreadAssignment(second) && others.length === 0
      ? [withoutDots(second, file), { start: end - '}'.length, end, text: ')' }]
      : [insertion(second.getStart(file), '{'), insertion(end, ')')]
  return [
    { start, end: start + '{'.length, text: `${isOpen ? ADD : 'Object.assign'}(${COPY}(` },
    withoutDots(first, file),
    insertion(first.end, ')'),
    ...added,
  ]
}

function withoutDots(spread, file) {
  const start = spread.getStart(file)
  return { start, end: start + '...'.length, text: '' }
}

const insertion = (at, text) => ({ start: at, end: at, text })

function apply(code, edits) {
  let result = ''
  let done = 0
  for (const { start, end, text } of edits.toSorted((one, other) => one.start - other.start)) {
    result += code.slice(done, start) + text
    done = end
  }
  return result + code.slice(done)
}
