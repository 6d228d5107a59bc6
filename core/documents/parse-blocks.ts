import { type Path, printPath } from '../faults/diagnostic.ts'
import type { ValueFault } from './value-fault.ts'

type Node = Readonly<Record<string, unknown>>
type Check = (node: Node, path: Path) => Iterable<ValueFault>

/** What is wrong with a list of block nodes (contract/rest.md 3); extra keys are nobody's business. */
export function* checkBlocks(blocks: readonly unknown[], path: Path): Generator<ValueFault> {
  for (const [index, block] of blocks.entries()) yield* checkNode(block, [...path, index], BLOCKS)
}

function* checkNode(
  node: unknown,
  path: Path,
  kinds: Readonly<Record<string, Check>>,
): Generator<ValueFault> {
  const check = isNode(node) && typeof node.type === 'string' ? kinds[node.type] : undefined
  if (!isNode(node) || check === undefined)
    yield fault(path, node, INVALID[kinds === BLOCKS ? 'block' : 'inline'])
  else yield* check(node, path)
}

const INVALID = { block: 'Block node is of invalid type', inline: 'Inline node must be Text or Link' }

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const fault = (path: Path, value: unknown, message: string): ValueFault => ({
  kind: 'rule',
  path,
  message,
  ...(value === undefined ? {} : { value }),
})

const childrenOf = (kinds: () => Readonly<Record<string, Check>>): Check =>
  function* (node, path) {
    const at = [...path, 'children']
    if (node.children === undefined || node.children === null)
      yield fault(at, node.children, `${printPath(at)} is a required field`)
    else if (!Array.isArray(node.children))
      yield fault(at, node.children, `${printPath(at)} must be a \`array\` type`)
    else
      for (const [index, child] of node.children.entries()) yield* checkNode(child, [...at, index], kinds())
  }

const inline = childrenOf(() => INLINE)

const oneOf = (key: string, values: readonly unknown[], rest: Check): Check =>
  function* (node, path) {
    const at = [...path, key]
    if (!values.includes(node[key]))
      yield fault(at, node[key], `${printPath(at)} must be one of the following values: ${values.join(', ')}`)
    yield* rest(node, path)
  }

const text: Check = function* (node, path) {
  if (typeof node.text !== 'string')
    yield fault([...path, 'text'], node.text, 'Text must be defined with at least an empty string')
}

const link: Check = function* (node, path) {
  if (typeof node.url !== 'string' || !isLink(node.url))
    yield fault([...path, 'url'], node.url, 'Please specify a valid link.')
  yield* childrenOf(() => ({ text }))(node, path)
}

/** An absolute address, or one within the site. */
const isLink = (url: string): boolean => /^(\/|#|mailto:|tel:)/.test(url) || URL.canParse(url)

const image: Check = function* (node, path) {
  const at = [...path, 'image']
  if (!isNode(node.image)) yield fault(at, node.image, `${printPath(at)} is a required field`)
  yield* inline(node, path)
}

const list: Check = oneOf(
  'format',
  ['unordered', 'ordered'],
  childrenOf(() => ({ 'list-item': inline, list })),
)

const INLINE: Readonly<Record<string, Check>> = { text, link }

const BLOCKS: Readonly<Record<string, Check>> = {
  paragraph: inline,
  quote: inline,
  code: inline,
  heading: oneOf('level', [1, 2, 3, 4, 5, 6], inline),
  list,
  image,
}
