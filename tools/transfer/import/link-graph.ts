import { groupBy } from '../../../core/documents/rows/group.ts'
import type { ContentType } from '../../../core/model/model.ts'
import type { StreamIndex } from '../index-stream.ts'
import type { FindExisting } from './find-existing.ts'
import { linksIn, partsOf } from './link-names.ts'
import type { ParsedDocument } from './parsed-document.ts'

/** Which lines lead to which documents of the stream that the database has not: as numbers, for streams are long. */
export class LinkGraph {
  readonly #index: StreamIndex
  readonly #types = new Map<ContentType, number>()
  readonly #nodes: [line: number, node: number][] = []
  readonly #links: [line: number, node: number][] = []

  constructor(index: StreamIndex) {
    this.#index = index
  }

  add(document: ParsedDocument, existing: FindExisting): void {
    const { line, type, documentId } = document
    const node = this.#nodeOf(type, documentId)
    if (node !== undefined) this.#nodes.push([line, node])
    for (const values of partsOf(document))
      for (const { attribute, target } of linksIn(type, values)) {
        if (existing(attribute.target, target.documentId)) continue
        const end = this.#nodeOf(attribute.target, target.documentId)
        if (end !== undefined && end !== node) this.#links.push([line, end])
      }
  }

  /** The lines that lead to one of these, or to one that does. */
  leadingTo(lines: ReadonlySet<number>): ReadonlySet<number> {
    const nodes = new Map(this.#nodes)
    const ways = groupBy(this.#links, ([, node]) => node)
    const found = new Set<number>()
    const next = [...lines]
    for (let line = next.pop(); line !== undefined; line = next.pop()) {
      for (const [from] of ways.get(nodes.get(line) ?? NOWHERE) ?? []) {
        if (found.has(from) || lines.has(from)) continue
        found.add(from)
        next.push(from)
      }
    }
    return found
  }

  #nodeOf(type: ContentType, documentId: string): number | undefined {
    const found = this.#index.find(type, documentId)
    if (!found) return undefined
    const number = this.#types.get(type) ?? this.#types.size
    this.#types.set(type, number)
    return number * 2 ** 32 + found.ordinal
  }
}

const NOWHERE = -1
